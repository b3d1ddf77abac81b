import { LONGEST_SHORT_WORD } from './words.ts'
import type { Kind } from './words.ts'

/** A word that nonsense may be made of. */
export interface Word {
  /** As it is written inside a sentence. */
  readonly text: string
  readonly lower: string
  readonly kind: Kind
  /** Whether it also occurs in the rest of the prompt. */
  readonly isElsewhere: boolean
  /** Whether it occurs in the texts that nonsense is made of, or in similar ones. */
  readonly isOwn: boolean
  /** How often it occurs in the run's texts; the highest number counted is 8. */
  readonly frequency: number
  /** The numbers of its capitals, and of its characters that are neither letters nor digits. */
  readonly capitals: number
  readonly marks: number
  /** Whether it keeps its place. */
  readonly isFixed: boolean
}

/** A word in a text. */
export interface PlacedWord extends Word {
  /** Whether it is written with a capital because it begins a sentence. */
  readonly isCapitalised: boolean
  /** The number of capitals with which it is written in the text. */
  readonly writtenCapitals: number
}

/** What words may be exchanged for. */
export interface Replacements {
  /** Words by their sort, as `sortOf` says. */
  readonly bySort: ReadonlyMap<string, readonly Word[]>
  /** All pairs of words that follow each other in the rest of the prompt, as `pairOf` writes them. */
  readonly quotable: ReadonlySet<string>
  /** Those that may be drawn, by the sorts of both words. */
  readonly pairsBySort: ReadonlyMap<string, readonly (readonly [Word, Word])[]>
  /** All pairs of words that follow each other in nonsense that was made before. */
  readonly used: ReadonlySet<string>
}

/** What words of a sort are alike in: they may be exchanged without a change of form. */
export function sortOf({ kind, text, lower, isElsewhere, isFixed }: Word): string {
  if (isFixed) return `fixed ${lower}`
  return `${kind} ${kind === 'number' ? text.length : text.length <= LONGEST_SHORT_WORD} ${isElsewhere}`
}

/** Two words that follow each other, as one text. */
export function pairOf(one: Word, other: Word): string {
  return `${one.lower} ${other.lower}`
}

/** The sorts of two words that follow each other. */
export function sortsOf(one: Word, other: Word): string {
  return `${sortOf(one)}, ${sortOf(other)}`
}

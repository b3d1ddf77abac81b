import type { Word } from './replaceable-words.ts'
import { LONGEST_SHORT_WORD } from './words.ts'

/** What is avoided in nonsense. Higher costs are avoided first. */
export const COSTS = {
  /** A word that carries meaning stays, or a number does. Short words may stay: they hold sentences together. */
  keptContent: 5,
  keptNumber: 2,
  /** A replacement is not a word of these texts: other texts have other words. Short texts need words from elsewhere. */
  foreign: 6,
  ownInShortText: 4,
  /** Two words, not both of them short, follow each other in the original as well, or in earlier nonsense, and nowhere else. */
  keptPair: 4,
  /** A replacement is of another kind, longer or shorter than short words are, or occurs elsewhere when the original does not. */
  otherKind: 5,
  otherSize: 2,
  otherPlace: 1,
  /** For each character that it is longer or shorter: anywhere, and as the first or last word of a text. */
  length: 0.25,
  lengthAtEnd: 4,
  /** It is longer than the longest word of a text, or replaces that one and is shorter. */
  otherLongest: 3,
  /** For each time that it is more or less frequent. */
  otherFrequency: 1,
  /** For each pair of words that follow each other elsewhere, more or less than in the original. */
  quoted: 10,
  /** For each place whose word the original has as well, more or less than places of the original whose word the nonsense has. */
  common: 2,
}
/** What else is counted in whole texts, and the cost of one more or less than in the original. */
export const COUNTS: readonly { readonly cost: number; readonly of: (word: Word, isCapitalised: boolean) => number }[] =
  [
    { cost: 16, of: ({ isElsewhere }) => Number(isElsewhere) },
    { cost: 16, of: capitalsOf },
    { cost: 16, of: ({ marks }) => marks },
    { cost: 16, of: ({ kind }) => Number(kind === 'number') },
    { cost: 3, of: ({ text }) => text.length },
  ]
/** The place of capitals in these counts. */
export const CAPITALS = 1
/** A word that is repeated more often counts as if it were in so many places. */
const MOST_PLACES = 4

/** One of the different words of the texts. */
export interface Entry {
  readonly original: Word
  readonly places: Place[]
  /** The number of its places at the beginning or the end of a text. */
  ends: number
  /** The length of the longest word in each text that it is in, as far as that is known. */
  longest: number
  now: Word
}

interface Place {
  readonly at: number
  readonly text: number
  readonly isCapitalised: boolean
}

/** The cost of replacing a word as it is now, without what it costs in its texts. */
export function costOfReplacement({ original, now, places, ends, longest }: Entry, isShort: boolean): number {
  const weight = Math.min(places.length, MOST_PLACES)
  let cost = lengthApart(now, original) * (COSTS.length * weight + COSTS.lengthAtEnd * ends)
  if (now.lower === original.lower && original.kind !== 'short') {
    cost += original.kind === 'number' ? COSTS.keptNumber : COSTS.keptContent
  }
  if (!isShort && !now.isOwn) cost += COSTS.foreign
  if (isShort && now.isOwn && now.kind !== 'short') cost += COSTS.ownInShortText
  if (now.kind !== original.kind) cost += COSTS.otherKind * weight
  if (isSmall(now) !== isSmall(original)) cost += COSTS.otherSize * weight
  if (now.isElsewhere !== original.isElsewhere) cost += COSTS.otherPlace * weight
  cost += COSTS.otherFrequency * Math.abs(now.frequency - original.frequency)
  const isLonger = now.text.length > longest
  if (isLonger || (original.text.length === longest && now.text.length < longest)) cost += COSTS.otherLongest
  return cost
}

/** How many characters one word is longer than the other. */
export function lengthApart(one: Word, other: Word): number {
  return Math.abs(one.text.length - other.text.length)
}

/** The number of capitals with which a word is written. */
export function capitalsOf({ text, capitals }: Word, isCapitalised: boolean): number {
  const first = text.charAt(0)
  return isCapitalised && first === first.toLowerCase() ? capitals + 1 : capitals
}

function isSmall({ text }: Word): boolean {
  return text.length <= LONGEST_SHORT_WORD
}

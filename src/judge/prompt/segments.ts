import type { ItemList } from '../inquiry.ts'

let sentences: Intl.Segmenter | undefined
let words: Intl.Segmenter | undefined

/** What every word has. It is found faster than words are counted, and a text may have thousands of sentences. */
const LETTER = /[\p{L}\p{Nd}]/u

/**
 * Splits a text into sentences by Unicode's rules for any language. A piece without a word belongs to the sentence before it. If there are
 * more than `most`, neighbours are joined.
 */
export function toSentences(text: string, most: number): string[] {
  sentences ??= new Intl.Segmenter('und', { granularity: 'sentence' })
  const all: string[] = []
  for (const { segment } of sentences.segment(text)) {
    const part = segment.trim()
    if (part === '') continue
    if (all.length > 0 && !LETTER.test(part)) all[all.length - 1] += ` ${part}`
    else all.push(part)
  }
  if (all.length <= most) return all
  const size = Math.ceil(all.length / most)
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size).join(' '),
  )
}

/**
 * Splits a sentence into parts of similar length, at most `maxLength` characters if its words allow it. In languages that do not mark the
 * end of a sentence, and in lists of clauses, a whole text may be one sentence.
 */
export function toParts(sentence: string, maxLength: number): string[] {
  const parts: string[] = []
  let left = Math.ceil(sentence.length / maxLength)
  let rest = sentence.length
  let part = ''
  for (const { text, isWord } of left <= 1 ? [] : toWordPieces(sentence)) {
    if (isWord && left > 1 && part.length + text.length > rest / left) {
      parts.push(part.trim())
      rest -= part.length
      left -= 1
      part = ''
    }
    part += text
  }
  return left <= 1 && parts.length === 0 ? [sentence] : [...parts, part.trim()].filter((one) => one !== '')
}

/** The most sentences that the text of a list is split into. With as many sentences as items, no sentence could have two items. */
export function mostSentences({ max, coversAll = true }: Pick<ItemList, 'max' | 'coversAll'>): number {
  return coversAll ? Math.ceil(max / 2) : 3 * max
}

/** A word, or the text between two words. */
export interface WordPiece {
  readonly text: string
  readonly isWord: boolean
}

/** Splits a text into words and the text between them, by Unicode's rules for any language. */
export function toWordPieces(text: string): WordPiece[] {
  words ??= new Intl.Segmenter('und', { granularity: 'word' })
  return [...words.segment(text)].map(({ segment, isWordLike }) => ({ text: segment, isWord: isWordLike === true }))
}

/** The number of words of a text. */
export function countWords(text: string): number {
  return toWordPieces(text).filter(({ isWord }) => isWord).length
}

/** Puts a text on one line. */
export function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Numbers the sentences of the material in a way that the text cannot forge: `[1f0a9b3c 2] It rains.` */
export function numberSentences(texts: readonly string[], tag: string): string {
  return texts.map((text, index) => `[${tag} ${index + 1}] ${text}`).join('\n')
}

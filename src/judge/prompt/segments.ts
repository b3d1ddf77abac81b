import type { ItemList } from '../inquiry.ts'

let sentences: Intl.Segmenter | undefined
let words: Intl.Segmenter | undefined

/**
 * A text in sentences, as Unicode divides it whatever the language. What has no word in it belongs to the sentence before. Where
 * there are more than `most`, neighbours are put together.
 */
export function toSentences(text: string, most: number): string[] {
  sentences ??= new Intl.Segmenter('und', { granularity: 'sentence' })
  const all: string[] = []
  for (const { segment } of sentences.segment(text)) {
    const part = segment.trim()
    if (part === '') continue
    if (all.length > 0 && countWords(part) === 0) all[all.length - 1] += ` ${part}`
    else all.push(part)
  }
  if (all.length <= most) return all
  const size = Math.ceil(all.length / most)
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size).join(' '),
  )
}

/**
 * A sentence in parts of about the same length, of so many characters at most where its words allow it. In languages that end
 * sentences without a mark, and in lists of clauses, all of a text may be one sentence.
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

/** How many sentences the text of a list is divided into at most: with as many as items, no sentence could have two. */
export function mostSentences({ max, coversAll = true }: Pick<ItemList, 'max' | 'coversAll'>): number {
  return coversAll ? Math.ceil(max / 2) : 3 * max
}

/** A piece of a text: a word, or what is between words. */
export interface WordPiece {
  readonly text: string
  readonly isWord: boolean
}

/** A text in words and what is between them, as Unicode divides it whatever the language. */
export function toWordPieces(text: string): WordPiece[] {
  words ??= new Intl.Segmenter('und', { granularity: 'word' })
  return [...words.segment(text)].map(({ segment, isWordLike }) => ({ text: segment, isWord: isWordLike === true }))
}

/** How many words a text has. */
export function countWords(text: string): number {
  return toWordPieces(text).filter(({ isWord }) => isWord).length
}

/** A text on one line. */
export function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** A sentence of the material with its number in front, which the text itself cannot forge: `[1f0a9b3c 2] It rains.` */
export function numberSentences(texts: readonly string[], tag: string): string {
  return texts.map((text, index) => `[${tag} ${index + 1}] ${text}`).join('\n')
}

import { toWordPieces } from '../prompt/segments.ts'

/** Short words hold a sentence together, long ones carry its meaning, and names are capitalised inside a sentence. */
export type Kind = 'number' | 'name' | 'short' | 'long'

/** A piece of a text; `isInitial` if a word begins a sentence, a line or a quotation, where a capital says nothing about it. */
export interface Piece {
  readonly text: string
  readonly isWord: boolean
  readonly isInitial: boolean
}

/** The words of a text, and what is between them. */
export function toPieces(text: string): Piece[] {
  let isInitial = true
  return toWordPieces(text).map((piece) => {
    const own = { ...piece, isInitial }
    if (piece.isWord) isInitial = false
    else if (/[.!?:"“„«([{\n。！？]/.test(piece.text)) isInitial = true
    return own
  })
}

/** Words of this many characters are short. */
export const LONGEST_SHORT_WORD = 3

/** The kind of a word, as it is written inside a sentence. */
export function kindOfWord(word: string): Kind {
  if (isNumber(word)) return 'number'
  if (/\p{Lu}/u.test(word)) return 'name'
  return isShortWord(word) ? 'short' : 'long'
}

/** Whether a word is a number. */
export function isNumber(word: string): boolean {
  return /^[\d.,]+$/.test(word)
}

/** Numbers, units, single letters and ids keep their places, because the text around them is part of their form. */
export function isFixed(word: string): boolean {
  return /^(?:\p{L}|.*[\d_].*)$/u.test(word) && !/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u.test(word)
}

/** Whether a word begins with a capital. */
export function isCapital(word: string): boolean {
  return word.charAt(0) !== word.charAt(0).toLowerCase()
}

/** Short words of alphabetic scripts carry no meaning of their own; every word of other scripts may. */
function isShortWord(word: string): boolean {
  return word.length <= LONGEST_SHORT_WORD && !/[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}'’]/u.test(word)
}

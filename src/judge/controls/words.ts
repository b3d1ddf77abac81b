import { toWordPieces } from '../prompt/segments.ts'

/** Characters that are searched for words, for one text and for all texts of one kind together. */
const LONGEST_SOURCE = 8000
const MOST_SOURCE = 64_000
/** Characters that are read in one step: more would take a long turn of the event loop. */
const CHARACTERS_OF_A_STEP = 4000

/** Words that are replaced in one step. */
export const WORDS_OF_A_STEP = 500

/** Work that is done in steps. */
export type WordSteps<Result> = Generator<undefined, Result>

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

/** The words of each text, with their repetitions. */
export function* wordsInSteps(texts: readonly string[]): WordSteps<(readonly Piece[])[]> {
  const words: (readonly Piece[])[] = []
  let room = MOST_SOURCE
  let read = 0
  for (const text of texts) {
    const source = text.slice(0, Math.min(LONGEST_SOURCE, room))
    room -= source.length
    const pieces = yield* piecesInSteps(source)
    words.push(pieces.filter(({ isWord }) => isWord))
    read += source.length
    if (read < CHARACTERS_OF_A_STEP) continue
    read = 0
    yield
  }
  return words
}

/** The pieces of a text. A long one is read in parts that end between words. */
export function* piecesInSteps(text: string): WordSteps<readonly Piece[]> {
  if (text.length <= CHARACTERS_OF_A_STEP) return toPieces(text)
  const pieces: Piece[] = []
  for (let from = 0; from < text.length;) {
    const space = text.indexOf(' ', from + CHARACTERS_OF_A_STEP)
    const isNear = space !== -1 && space < from + 2 * CHARACTERS_OF_A_STEP
    const end = isNear ? space : from + CHARACTERS_OF_A_STEP
    for (const piece of toPieces(text.slice(from, end))) pieces.push(piece)
    from = end
    yield
  }
  return pieces
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

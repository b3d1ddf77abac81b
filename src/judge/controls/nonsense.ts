import type { SectionDraft } from '../prompt/section.ts'
import type { Randomness } from '../randomness.ts'
import { toWordPieces } from '../prompt/segments.ts'

type Integer = Pick<Randomness, 'integer'>

/** With fewer words to choose from, invented ones are added. */
const LEAST_WORDS = 8
/** Characters of one text that are looked through for words. */
const LONGEST_SOURCE = 4000

/** The words that nonsense is made of, each once and in small letters. */
export interface Vocabulary {
  /** Words of up to three letters: they hold a sentence together. */
  readonly short: readonly string[]
  readonly long: readonly string[]
}

/** The words of the texts; numbers are none. */
export function toVocabulary(texts: readonly string[]): Vocabulary {
  const words = new Set<string>()
  for (const text of texts) {
    for (const { text: word, isWord } of toWordPieces(text.slice(0, LONGEST_SOURCE))) {
      if (isWord && !/\d/.test(word)) words.add(word.toLowerCase())
    }
  }
  return { short: [...words].filter(isShort), long: [...words].filter((word) => !isShort(word)) }
}

/**
 * A text of the same form that makes no sense: every word is replaced by another one of the run, short ones by short ones, and
 * every number by another. Length, punctuation and capitals stay, so that only its meaning tells it from a real text.
 *
 * @param vocabulary words of the run, by `toVocabulary`
 */
export function toNonsense(text: string, vocabulary: Vocabulary, randomness: Integer): string {
  const pieces = toWordPieces(text)
  const own = new Set(pieces.map((piece) => piece.text.toLowerCase()))
  const longWords = vocabulary.long.filter((word) => !own.has(word))
  const words = {
    long: [...longWords, ...inventWords(LEAST_WORDS - longWords.length, randomness)],
    short: vocabulary.short.length > 2 ? vocabulary.short : [...own].filter(isShort),
  }
  return pieces.map((piece) => (piece.isWord ? replaceWord(piece.text, words, randomness) : piece.text)).join('')
}

/** The same section with every text that may be cut made nonsense: labels of ours are never cut, and stay. */
export function nonsenseOf(section: SectionDraft, vocabulary: Vocabulary, randomness: Integer): SectionDraft {
  return {
    ...section,
    fragments: section.fragments.map((fragment) =>
      fragment.cut === undefined ? fragment : { ...fragment, text: toNonsense(fragment.text, vocabulary, randomness) },
    ),
  }
}

function replaceWord(word: string, words: Vocabulary, randomness: Integer): string {
  if (/^[\d.,]+$/.test(word)) return otherNumber(word, randomness)
  const among = isShort(word) && words.short.length > 0 ? words.short : words.long
  const drawn = among[randomness.integer(among.length)] ?? word
  const first = word.charAt(0)
  return first === first.toLowerCase() ? drawn : drawn.charAt(0).toUpperCase() + drawn.slice(1)
}

/** Another number of as many digits. */
function otherNumber(number: string, randomness: Integer): string {
  const other = number.replaceAll(/\d/g, () => String(1 + randomness.integer(9)))
  return other === number ? number.replace(/\d/, (digit) => String((Number(digit) % 9) + 1)) : other
}

/** Little words of alphabetic scripts say nothing by themselves; every word of other scripts may. */
function isShort(word: string): boolean {
  return word.length <= 3 && !/[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}'’]/u.test(word)
}

/** Words that nobody has used before, two or three syllables long. */
function inventWords(count: number, { integer }: Integer): string[] {
  const pick = (letters: string): string => letters.charAt(integer(letters.length))
  const syllable = (): string => pick('bdfghklmnprstvwz') + pick('aeiou')
  return Array.from(
    { length: Math.max(0, count) },
    () => Array.from({ length: 2 + integer(2) }, syllable).join('') + pick('nrstlm'),
  )
}

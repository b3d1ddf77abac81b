import type { SectionDraft } from '../prompt/section.ts'
import { toWordPieces } from '../prompt/segments.ts'
import type { Randomness } from '../randomness.ts'

/** Characters of one text that are looked through for words. */
const LONGEST_SOURCE = 4000
/** A text of fewer words might still make sense with its words in another order: it gets words from elsewhere alone. */
const LEAST_OWN_WORDS = 5

/** A word is replaced by one of so many that are most like it in length and capitals. */
const MOST_ALIKE = 6

/** Words of one kind: short ones hold a sentence together, long ones carry its meaning. */
interface Words {
  readonly short: readonly string[]
  readonly long: readonly string[]
}

/**
 * Makes texts of the same form that make no sense: every word is replaced by another one of the run, and every number by another.
 * A word that is elsewhere in what is shown is replaced by such a word, any other by one that is not, and short ones by short
 * ones. Length, punctuation and capitals stay. So nothing but its meaning tells such a text from a real one.
 */
export class Nonsense {
  readonly #elsewhere: ReadonlySet<string>
  readonly #shared: Words
  readonly #others: Words
  readonly #own: Words
  readonly #randomness: Pick<Randomness, 'integer'>

  /**
   * @param ownTexts the texts of which nonsense is to be made, and others like them
   * @param otherTexts what is shown beside them
   */
  constructor(ownTexts: readonly string[], otherTexts: readonly string[], randomness: Pick<Randomness, 'integer'>) {
    const [own, others] = [wordsOf(ownTexts), wordsOf(otherTexts)]
    this.#elsewhere = new Set(others.map((word) => word.toLowerCase()))
    const isElsewhere = (word: string): boolean => this.#elsewhere.has(word.toLowerCase())
    this.#own = toWords(own.filter((word) => !isElsewhere(word)))
    this.#shared = toWords(own.filter(isElsewhere))
    this.#others = toWords(others)
    this.#randomness = randomness
  }

  /** A text of the same form without sense. */
  of(text: string): string {
    const pieces = toWordPieces(text)
    const isShort = pieces.filter((piece) => piece.isWord).length < LEAST_OWN_WORDS
    return pieces.map((piece) => (piece.isWord ? this.#replace(piece.text, isShort) : piece.text)).join('')
  }

  /** The same section with every text that may be cut made nonsense: labels of ours are never cut, and stay. */
  ofSection(section: SectionDraft): SectionDraft {
    return {
      ...section,
      fragments: section.fragments.map((fragment) =>
        fragment.cut === undefined ? fragment : { ...fragment, text: this.of(fragment.text) },
      ),
    }
  }

  #replace(word: string, isFromElsewhere: boolean): string {
    if (/^[\d.,]+$/.test(word)) return otherNumber(word, this.#randomness)
    const lower = word.toLowerCase()
    const kind = isShortWord(word) ? 'short' : 'long'
    const alikePools = this.#elsewhere.has(lower) ? [this.#shared, this.#others] : [this.#own, this.#shared]
    const pools = isFromElsewhere ? [this.#others] : [...alikePools, this.#others]
    for (const pool of pools) {
      const alike = pool[kind]
        .filter((other) => other.toLowerCase() !== lower)
        .toSorted((one, other) => distance(one, word) - distance(other, word))
        .slice(0, MOST_ALIKE)
      const drawn = alike[this.#randomness.integer(Math.max(1, alike.length))]
      if (drawn !== undefined) return withCapitals(drawn, word)
      if (kind === 'short' && !isFromElsewhere) return word
    }
    return kind === 'short' ? word : withCapitals(inventWord(this.#randomness), word)
  }
}

/** The words of the texts, as often as they are there: what is frequent is to be frequent in nonsense, too. */
function wordsOf(texts: readonly string[]): string[] {
  const words = texts.flatMap((text) => toWordPieces(text.slice(0, LONGEST_SOURCE)))
  return words.flatMap(({ text, isWord }) => (isWord && !/\d/.test(text) ? [text] : []))
}

function isCapital(word: string): boolean {
  return word.charAt(0) !== word.charAt(0).toLowerCase()
}

function distance(one: string, other: string): number {
  return Math.abs(one.length - other.length) + (isCapital(one) === isCapital(other) ? 0 : 3)
}

function toWords(words: readonly string[]): Words {
  return { short: words.filter(isShortWord), long: words.filter((word) => !isShortWord(word)) }
}

/** The word with capitals where the model has them: none, the first letter, or all. */
function withCapitals(word: string, model: string): string {
  const lower = word.toLowerCase()
  if (model === model.toLowerCase()) return lower
  if (model.length > 1 && model === model.toUpperCase()) return lower.toUpperCase()
  return lower.charAt(0).toUpperCase() + lower.slice(1)
}

/** Another number of as many digits. */
function otherNumber(number: string, randomness: Pick<Randomness, 'integer'>): string {
  const other = number.replaceAll(/\d/g, () => String(1 + randomness.integer(9)))
  return other === number ? number.replace(/\d/, (digit) => String((Number(digit) % 9) + 1)) : other
}

/** Little words of alphabetic scripts say nothing by themselves; every word of other scripts may. */
function isShortWord(word: string): boolean {
  return word.length <= 3 && !/[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}'’]/u.test(word)
}

/** A word that nobody has used before, two or three syllables long. */
function inventWord({ integer }: Pick<Randomness, 'integer'>): string {
  const pick = (letters: string): string => letters.charAt(integer(letters.length))
  const syllables = Array.from({ length: 2 + integer(2) }, () => pick('bdfghklmnprstvwz') + pick('aeiou'))
  return syllables.join('') + pick('nrstlm')
}

import type { Randomness } from '../randomness.ts'
import { isFixed, isNumber, kindOfWord, LONGEST_SHORT_WORD, WORDS_OF_A_STEP } from './words.ts'
import type { WordSteps } from './words.ts'

/** Longer quotations of the run might make sense. */
const LONGEST = 5
/** Two quoted words that no others can replace stay, for at most this share of a text, which keeps no sense by them. */
const MOST_KEPT = 1 / 3
/**
 * Words that are searched for quotations, quotations kept for each form, and quotations replaced in texts with words in common: more would
 * take a long turn of the event loop.
 */
const MOST_WORDS = 2000
const MOST_OF_A_FORM = 30
const MOST_REPLACED = 300

/** Words that follow each other, and all of them in lower case. */
interface Quotation {
  readonly words: readonly string[]
  readonly lower: readonly string[]
  readonly text: string
}

type ByForm = ReadonlyMap<string, readonly Quotation[]>

/**
 * Replaces words that also follow each other elsewhere in the prompt by others that do, so that nonsense quotes as much as the original. Only
 * a few words at a time, so that no quotation makes sense.
 */
export class Quotations {
  /** Pairs of words that follow each other elsewhere. */
  readonly #pairs: ReadonlySet<string>
  /** Those of the texts themselves, and all of them. */
  readonly #pools: readonly ByForm[]
  readonly #randomness: Pick<Randomness, 'integer'>

  /**
   * @param own words of the texts to replace
   * @param said words elsewhere in the prompt
   */
  constructor(own: readonly string[], said: readonly string[], randomness: Pick<Randomness, 'integer'>) {
    this.#randomness = randomness
    this.#pairs = new Set(said.slice(1).map((word, index) => `${said[index]} ${word}`.toLowerCase()))
    this.#pools = [byForm(own, (pair) => this.#pairs.has(pair)), byForm(said, () => true)]
  }

  /**
   * Long texts take several steps.
   *
   * @param words as they are written inside a sentence
   * @param known what has been replaced in texts with words in common
   * @param used replacements, which are not drawn again
   * @returns the replacements by their places
   */
  *replace(
    words: readonly string[],
    known: Map<string, readonly string[]>,
    used: Set<string>,
  ): WordSteps<readonly (string | undefined)[]> {
    const replaced = words.map((): string | undefined => undefined)
    const lower = words.map((word) => word.toLowerCase())
    let start = 0
    let kept = 0
    let looked = 0
    while (start < words.length && known.size < MOST_REPLACED) {
      let end = this.#endOf(lower, start)
      for (let size = end - start; size > 1; size--) {
        const text = lower.slice(start, start + size).join(' ')
        const mayStay = size === 2 && kept + size <= words.length * MOST_KEPT
        const found = known.get(text) ?? this.#draw(text, words.slice(start, start + size), used)
        if (found === undefined && !mayStay) continue
        if (found === undefined) kept += size
        const other = found ?? words.slice(start, start + size)
        known.set(text, other)
        for (const [at, word] of other.entries()) {
          replaced[start + at] = word
          used.add(word.toLowerCase())
        }
        end = start + size
        break
      }
      looked += end - start
      start = end
      if (looked < WORDS_OF_A_STEP) continue
      looked = 0
      yield
    }
    return replaced
  }

  /** Where the words end that also follow each other elsewhere. */
  #endOf(lower: readonly string[], start: number): number {
    let end = start + 1
    while (end < lower.length && end - start < LONGEST && this.#pairs.has(`${lower[end - 1]} ${lower[end]}`)) end++
    return end
  }

  #draw(text: string, words: readonly string[], used: ReadonlySet<string>): readonly string[] | undefined {
    const form = words.map(formOf).join(' ')
    for (const pool of this.#pools) {
      const fit = (pool.get(form) ?? []).filter(
        (quotation) => quotation.text !== text && !quotation.lower.some((word) => used.has(word)),
      )
      if (fit.length > 0) return fit[this.#randomness.integer(fit.length)]?.words
    }
    return undefined
  }
}

/** Groups of words that follow each other, by their form. */
function byForm(all: readonly string[], isQuoted: (pair: string) => boolean): ByForm {
  const words = all.slice(0, MOST_WORDS)
  const lower = words.map((word) => word.toLowerCase())
  const forms = words.map((word) => formOf(word))
  const found = new Map<string, Quotation[]>()
  for (let size = 2; size <= LONGEST; size++) {
    for (let start = 0; start + size <= words.length; start++) {
      const end = start + size
      const own = lower.slice(start, end)
      if (!own.slice(1).every((word, index) => isQuoted(`${own[index]} ${word}`))) continue
      const form = forms.slice(start, end).join(' ')
      const alike = found.get(form)
      if ((alike?.length ?? 0) >= MOST_OF_A_FORM) continue
      const quotation = { words: words.slice(start, end), lower: own, text: own.join(' ') }
      if (alike === undefined) found.set(form, [quotation])
      else alike.push(quotation)
    }
  }
  return found
}

/** What a replacement has in common with a word. */
function formOf(word: string): string {
  if (isNumber(word)) return `number ${word.length}`
  return isFixed(word) ? word : `${kindOfWord(word)} ${word.length <= LONGEST_SHORT_WORD}`
}

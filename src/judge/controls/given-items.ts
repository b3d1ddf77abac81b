import type { Inquiry, ItemList, Question } from '../inquiry.ts'
import { cleanText } from '../prompt/clean-text.ts'
import { countWords, toLine, toParts, toSentences } from '../prompt/segments.ts'
import { shuffled } from '../randomness.ts'
import type { Randomness } from '../randomness.ts'
import { Nonsense } from './nonsense.ts'

/** An item that we put into a list: a sentence of the source text, or a decoy made from one. */
export interface GivenItem {
  /** The id shown to the judge. */
  readonly id: string
  readonly text: string
  readonly isDecoy: boolean
}

/** Items that we put into a list. A judge that guesses which of them are decoys is right in one of fourteen tries. */
const GIVEN = 4
/** Longer sentences are split, because a whole one would cost more than all other controls. */
export const MOST_CHARACTERS = 240
/** A sentence with fewer words may make sense in any order, and cannot be judged alone. */
const LEAST_WORDS = 4
/** Sentences are drawn from this many characters of a text. */
const MOST_SOURCE = 16_000

/**
 * Draws the items that we put into the first list with a question: one to three sentences of the text, and decoys to make four. The judge's
 * items must agree with its verdict on a sentence; the right verdict on a decoy is known. Long texts are read in steps.
 *
 * @param draw returns the id to show for an item
 */
export function* drawGivenItems(
  inquiry: Inquiry,
  randomness: Randomness,
  draw: (name: string, question: Question, isDecoy: boolean) => string,
): Generator<undefined, { readonly list: ItemList; readonly items: readonly GivenItem[] } | undefined> {
  const list = inquiry.lists?.find(({ question }) => question !== undefined)
  const source = inquiry.sections.find(({ title }) => title === list?.from)
  if (list?.question === undefined || source === undefined) return undefined
  const question: Question = { ids: [], ...list.question }
  const text = cleanText(source.fragments.map((fragment) => fragment.text).join('')).slice(0, MOST_SOURCE)
  // Sentences that share a number, or are very long, are split. The items of the whole sentence must agree with each part too.
  const sentences = toSentences(text, Number.POSITIVE_INFINITY).flatMap((one) => toParts(one, MOST_CHARACTERS))
  const fit = sentences.filter((one) => one.length <= MOST_CHARACTERS && countWords(one) >= LEAST_WORDS)
  const real = shuffled(fit, randomness).slice(0, 1 + randomness.integer(GIVEN - 1))
  const models = fit.length > 0 ? fit : sentences.map((one) => one.slice(0, MOST_CHARACTERS).toWellFormed())
  const others = inquiry.sections.filter((section) => section !== source)
  const nonsense = yield* Nonsense.create([text], others, randomness)
  // A text of one sentence gets one to three decoys, so that their number gives nothing away.
  const decoys = fit.length === 1 ? 1 + randomness.integer(GIVEN - 1) : GIVEN - real.length
  const items = real.map((sentence, index) => ({ name: `given ${index}`, text: sentence, isDecoy: false }))
  for (let index = 0; index < decoys; index++) {
    const model = models[randomness.integer(models.length)] ?? text.slice(0, MOST_CHARACTERS).toWellFormed()
    items.push({ name: `decoy ${index}`, text: yield* nonsense.of(model), isDecoy: true })
  }
  return {
    list,
    items: shuffled(items, randomness).map(({ name, text: shown, isDecoy }) => ({
      id: draw(name, question, isDecoy),
      text: toLine(shown),
      isDecoy,
    })),
  }
}

import type { Inquiry, ItemList, Question } from '../inquiry.ts'
import { cleanText } from '../prompt/clean-text.ts'
import { countWords, toLine, toParts, toSentences } from '../prompt/segments.ts'
import { shuffled } from '../randomness.ts'
import type { Randomness } from '../randomness.ts'
import { Nonsense } from './nonsense.ts'

/** An item that a list holds from the beginning: a sentence of the text that the items come from, or a decoy made of one. */
export interface GivenItem {
  /** The id under which it is shown. */
  readonly id: string
  readonly text: string
  readonly isDecoy: boolean
}

/** So many items a list holds from the beginning: a judge that guesses which are decoys is right in one of fourteen tries. */
const GIVEN = 4
/** Longer sentences are given in parts: whole, they would cost more than the rest of the controls. */
const MOST_CHARACTERS = 240
/** Of fewer words, a sentence may make sense in any order, and earns no verdict alone. */
const LEAST_WORDS = 4
/** Characters of a text that sentences are taken from. */
const MOST_SOURCE = 16_000

/**
 * Draws the items that the first list with a question holds from the beginning: one to three sentences of the text, and as many
 * decoys as make four of them. What the judge says of a sentence, its items must bear out; what it says of a decoy is known.
 *
 * @param draw gives the id under which an item is shown
 */
export function drawGivenItems(
  inquiry: Inquiry,
  randomness: Randomness,
  draw: (name: string, question: Question, isDecoy: boolean) => string,
): { readonly list: ItemList; readonly items: readonly GivenItem[] } | undefined {
  const list = inquiry.lists?.find(({ question }) => question !== undefined)
  const source = inquiry.sections.find(({ title }) => title === list?.from)
  if (list?.question === undefined || source === undefined) return undefined
  const question: Question = { ids: [], ...list.question }
  const text = cleanText(source.fragments.map((fragment) => fragment.text).join('')).slice(0, MOST_SOURCE)
  // Of sentences that are numbered together, or are very long, a part is given: the items of the whole must bear it out, too.
  const sentences = toSentences(text, Number.POSITIVE_INFINITY).flatMap((one) => toParts(one, MOST_CHARACTERS))
  const fit = sentences.filter((one) => one.length <= MOST_CHARACTERS && countWords(one) >= LEAST_WORDS)
  const real = shuffled(fit, randomness).slice(0, 1 + randomness.integer(GIVEN - 1))
  const models = fit.length > 0 ? fit : sentences.map((one) => one.slice(0, MOST_CHARACTERS).toWellFormed())
  const others = inquiry.sections.filter((section) => section !== source)
  const nonsense = new Nonsense([text], others, randomness)
  // A text of one sentence has one to three decoys beside it: their number is not to be known.
  const decoys = fit.length === 1 ? 1 + randomness.integer(GIVEN - 1) : GIVEN - real.length
  const items = [
    ...real.map((sentence, index) => ({ name: `given ${index}`, text: sentence, isDecoy: false })),
    ...Array.from({ length: decoys }, (_, index) => {
      const model = models[randomness.integer(models.length)] ?? text.slice(0, MOST_CHARACTERS).toWellFormed()
      return { name: `decoy ${index}`, text: nonsense.of(model), isDecoy: true }
    }),
  ]
  return {
    list,
    items: shuffled(items, randomness).map(({ name, text: shown, isDecoy }) => ({
      id: draw(name, question, isDecoy),
      text: toLine(shown),
      isDecoy,
    })),
  }
}

import type { Randomness } from '../randomness.ts'
import { Exchange } from './exchange.ts'
import type { PlacedWord, Replacements, Word } from './replaceable-words.ts'
import type { WordSteps } from './words.ts'

/** Words that are exchanged together. Longer texts are divided. */
const MOST_TOGETHER = 2000
/** Attempts for each word, and places that all of them look at: a word that occurs in many places takes long. */
const ATTEMPTS = 40
const MOST_LOOKED = 100_000
/** How bad an exchange may be that is made now and then, in the beginning and at the end. */
const [HOT, COLD] = [4, 0.5]
/** Places that are looked at in one step. */
const PLACES_OF_A_STEP = 5000

/**
 * Exchanges the words of texts until they make no sense, and their form is the same. This is simulated annealing over the ways to replace
 * every word by another one, and never two by the same: so equal words have equal replacements, also in several texts, and these have as
 * much in common as the originals.
 *
 * Source: Kirkpatrick, Gelatt and Vecchi, "Optimization by Simulated Annealing", Science 220 (1983).
 *
 * @param isShort whether the texts are so short that their own words may make sense in any order
 * @returns the words of each text
 */
export function* exchangeWords(
  texts: readonly (readonly PlacedWord[])[],
  replacements: Replacements,
  isShort: boolean,
  randomness: Pick<Randomness, 'integer'>,
): WordSteps<readonly (readonly Word[])[]> {
  const exchanged: Word[][] = []
  for (const part of together(texts)) {
    const exchange = new Exchange(
      part.map(({ words }) => words),
      replacements,
      isShort,
      randomness,
    )
    yield* anneal(exchange)
    if (exchange.keepsSense) {
      exchange.loosen()
      yield* anneal(exchange)
    }
    for (const [index, words] of exchange.texts().entries()) {
      const text = part[index]?.text ?? 0
      exchanged[text] = [...(exchanged[text] ?? []), ...words]
    }
  }
  return texts.map((_, index) => exchanged[index] ?? [])
}

interface Part {
  readonly text: number
  readonly words: readonly PlacedWord[]
}

/** Divides the texts into parts that are exchanged together. */
function* together(texts: readonly (readonly PlacedWord[])[]): Generator<readonly Part[]> {
  let parts: Part[] = []
  let count = 0
  for (const [text, all] of texts.entries()) {
    for (let from = 0; from < all.length; from += MOST_TOGETHER) {
      const words = all.slice(from, from + MOST_TOGETHER)
      if (count > 0 && count + words.length > MOST_TOGETHER) {
        yield parts
        ;[parts, count] = [[], 0]
      }
      parts.push({ text, words })
      count += words.length
    }
  }
  if (count > 0) yield parts
}

function* anneal(exchange: Exchange): WordSteps<void> {
  const attempts = exchange.count * ATTEMPTS
  let looked = 0
  let sinceLast = 0
  for (let attempt = 0; attempt < attempts && looked < MOST_LOOKED; attempt++) {
    const places = exchange.attempt(HOT * (COLD / HOT) ** Math.max(attempt / attempts, looked / MOST_LOOKED))
    looked += places
    sinceLast += places
    if (sinceLast < PLACES_OF_A_STEP) continue
    sinceLast = 0
    yield
  }
}

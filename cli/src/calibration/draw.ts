import type { ProbabilityByVerdict } from '../../../src/cases/labels.ts'

/** A score that may be drawn. */
export interface Drawable {
  readonly label: 'pass' | 'fail'
  /** How many runs the score represents: 1/(probability with which its run was scored). */
  readonly weight: number
}

/** A score that was drawn, and with what probability. */
export interface Drawn<T> {
  readonly of: T
  /** Above 0, at most 1. */
  readonly drawProbability: number
  /**
   * The probability that it would have for either verdict; that of its own verdict is `drawProbability`. Both follow from its weight alone,
   * so that a reader learns nothing about the verdict.
   */
  readonly byVerdict: ProbabilityByVerdict
}

/** The probability of a score with that verdict. A single number holds for the verdict that it has. */
export function probabilityFor(given: number | ProbabilityByVerdict, verdict: Drawable['label']): number {
  return typeof given === 'number' ? given : given[verdict]
}

/**
 * Draws scores to label. If there are enough of both, about half of them have the verdict `pass` and half `fail`, so that rare failures
 * are labelled, too. A coin for each score decides how many of each there are: with fixed numbers, somebody who labels could
 * infer the verdicts of the last scores from the earlier ones. Among scores with one verdict, the probability is proportional to the number of runs that a score
 * represents, so that all labels count alike. It draws exactly `count` scores, or all if there are fewer.
 *
 * The probabilities are exact for the numbers that the coins gave. Estimates are made for each verdict by itself, so that they are
 * unbiased for each of these numbers. The scores are put in random order, and systematic sampling takes the one at each step of the
 * summed probabilities (Madow 1949; Särndal, Swensson, Wretman, "Model Assisted Survey Sampling", 3.6).
 *
 * @param random Gives numbers from 0 to 1, 1 excluded.
 * @returns the drawn scores in random order, which does not reveal their verdict.
 */
export function draw<T extends Drawable>(scores: readonly T[], count: number, random: () => number): Drawn<T>[] {
  const passed = scores.filter(({ label }) => label === 'pass')
  const failed = scores.filter(({ label }) => label === 'fail')
  const drawn = Math.min(count, scores.length)
  const ofFailed = countOfFailed(drawn, passed.length, failed.length, random)
  const counts = { pass: drawn - ofFailed, fail: ofFailed }
  // A verdict of which nothing is drawn has a probability, too: without one, it would be known to be none of the drawn.
  const rates = { pass: rateOf(passed, Math.max(1, counts.pass)), fail: rateOf(failed, Math.max(1, counts.fail)) }
  const both = [
    ...drawFrom(failed, counts.fail, rates.fail, random),
    ...drawFrom(passed, counts.pass, rates.pass, random),
  ]
  return shuffled(both, random).map((of) => {
    const byVerdict = { pass: probabilityOf(of, rates.pass), fail: probabilityOf(of, rates.fail) }
    return { of, drawProbability: byVerdict[of.label], byVerdict }
  })
}

/** How many of the drawn scores have the verdict `fail`: the number of coins that show heads, if there are enough scores of both verdicts. */
function countOfFailed(drawn: number, passed: number, failed: number, random: () => number): number {
  let heads = 0
  for (let coin = 0; coin < drawn; coin++) if (random() < 0.5) heads++
  // With two scores or more, both verdicts are drawn: otherwise a verdict that was not drawn would look like one that no score has.
  const least = drawn < 2 ? 0 : 1
  const fewest = Math.max(drawn - passed, Math.min(least, failed))
  const most = Math.min(failed, drawn - Math.min(least, passed))
  return Math.min(most, Math.max(fewest, heads))
}

function drawFrom<T extends Drawable>(scores: readonly T[], count: number, rate: number, random: () => number): T[] {
  const drawn: T[] = []
  if (count === 0) return drawn
  const order = shuffled(scores, random)
  let next = random()
  let sum = 0
  for (const score of order) {
    sum += probabilityOf(score, rate)
    // The probabilities add up to `count`, except for a rounding error that must not cost the last score.
    if (sum + 1e-9 <= next) continue
    next++
    drawn.push(score)
  }
  return drawn
}

/** Proportional to the weight of a score, and at most 1. */
function probabilityOf({ weight }: Drawable, rate: number): number {
  return Math.min(1, rate * weight)
}

/** The factor by which the probabilities of scores add up to `count`. Infinite if all of them are drawn. */
function rateOf(scores: readonly Drawable[], count: number): number {
  if (count >= scores.length) return Number.POSITIVE_INFINITY
  let weight = scores.reduce((sum, score) => sum + score.weight, 0)
  let left = count
  for (const { weight: own } of scores.toSorted((a, b) => b.weight - a.weight)) {
    if (left * own < weight) break
    // A score whose probability would be above 1 is always drawn, and the others share the rest.
    weight -= own
    left--
  }
  return left / weight
}

/** The items in random order (Fisher and Yates). */
function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const order = [...items]
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const [a, b] = [order[last], order[other]]
    if (a === undefined || b === undefined) continue
    order[last] = b
    order[other] = a
  }
  return order
}

/** Creates a generator of numbers from 0 to 1, 1 excluded (mulberry32). The same seed gives the same numbers. It is not for secrets. */
export function createSeededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

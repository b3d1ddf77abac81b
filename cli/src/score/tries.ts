import { weightedMean } from '../../../src/sampling/weighted-mean.ts'

/** How the tries of one question ended, by one scorer. */
export interface Tries {
  /** Tries with a score, and runs that failed: those did not pass. */
  readonly tries: number
  readonly passed: number
  /** The mean of the scores, in the scorer's own units. Absent if no try has one. */
  readonly mean?: number
}

/**
 * Whether a question newly fails: the 95 % interval of its pass rate (Wilson's) lies wholly below that of the baseline, or every try passed
 * before and none does now. Fewer than four tries can meet only the second rule. If the pass rate is what it was, a question with as many
 * tries as before newly fails by chance with a probability of at most 1/4 (one try), 1/16 (two), 1/64 (three) and 1/250 (four or more).
 */
export function isNewlyFailing(before: Tries, now: Tries): boolean {
  if (before.tries === 0 || now.tries === 0) return false
  if (before.passed === before.tries && now.passed === 0) return true
  return rateInterval(now)[1] < rateInterval(before)[0]
}

/** Wilson's interval: that of the mean of zeros and ones. */
function rateInterval({ passed, tries }: Tries): readonly [number, number] {
  const found = weightedMean({ w: tries, wy: passed, wy2: passed, w2: tries, w2y: passed, w2y2: passed })
  return found?.interval95 ?? [0, 1]
}

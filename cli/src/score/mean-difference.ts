/** The mean of paired differences, with its 95 % interval. */
export interface MeanDifference {
  readonly pairs: number
  readonly mean: number
  readonly interval95: readonly [number, number]
}

/** 97.5 % points of Student's t for 1 to 10 degrees of freedom. */
const STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]

/**
 * Accumulates differences of pairs. The interval is Student's. If all scores are at the ends of the range (passed
 * or not), or all differences are equal, few pairs underestimate the spread. In that case two pairs that cancel each other are
 * added first, as Agresti and Min do for paired proportions ("Effects and non-effects of paired identical observations in
 * comparing proportions with binary matched-pairs data", Statistics in Medicine 23, 2004).
 */
export class MeanDifferenceSums {
  readonly #range: readonly [number, number]
  #pairs = 0
  #sum = 0
  #squares = 0
  #isBinary = true

  constructor(range: readonly [number, number]) {
    this.#range = range
  }

  /** @param before The score of the baseline. @param now The score that is compared with it. */
  add(before: number, now: number): void {
    const difference = now - before
    this.#pairs++
    this.#sum += difference
    this.#squares += difference ** 2
    this.#isBinary &&= this.#range.includes(before) && this.#range.includes(now)
  }

  /** `undefined` if there is no pair. */
  result(): MeanDifference | undefined {
    if (this.#pairs === 0) return undefined
    const width = this.#range[1] - this.#range[0]
    const mean = this.#sum / this.#pairs
    const spread = this.#squares - this.#sum * mean
    const isAdjusted = this.#isBinary || this.#pairs < 2 || spread <= 1e-12 * width ** 2
    const pairs = isAdjusted ? this.#pairs + 2 : this.#pairs
    const squares = isAdjusted ? this.#squares + width ** 2 : this.#squares
    const center = this.#sum / pairs
    const variance = Math.max(0, squares - this.#sum * center) / (pairs - 1)
    const half = studentQuantile(pairs - 1) * Math.sqrt(variance / pairs)
    const interval95 = [Math.max(-width, center - half), Math.min(width, center + half)] as const
    return { pairs: this.#pairs, mean, interval95 }
  }
}

/** The 97.5 % point; from 11 degrees of freedom on by the expansion of Cornish and Fisher, right to four digits. */
export function studentQuantile(degreesOfFreedom: number): number {
  const known = STUDENT[degreesOfFreedom - 1]
  if (known !== undefined) return known
  const z = 1.959964
  const v = degreesOfFreedom
  return (
    z +
    (z ** 3 + z) / (4 * v) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * v ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * v ** 3)
  )
}

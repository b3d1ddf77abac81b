/**
 * Sums over scored runs, as the counters `spanscore.sum.*` carry them. `w` = 1/probability of the run, `y` = its score's
 * position in the range, 0..1, turned so that higher is better.
 */
export interface WeightedSums {
  readonly w: number
  readonly wy: number
  readonly wy2: number
  readonly w2: number
  readonly w2y: number
  readonly w2y2: number
}

/** A mean over all runs of a population of which a sample was scored. */
export interface WeightedMean {
  readonly mean: number
  /** Zero where every run was scored. */
  readonly standardError: number
  /** mean ± 1.96 standard errors, within 0..1. */
  readonly interval95: readonly [number, number]
}

/**
 * The Hájek estimate of the mean over all runs, scored or not, with the variance of its linearisation under Poisson
 * sampling: Σ w²(1−π)(y−ȳ)² / (Σw)², where π = 1/w (Särndal, Swensson, Wretman, "Model Assisted Survey Sampling", 5.7).
 * Written out in the six sums, so that it can be had of counters in any metrics backend.
 *
 * @returns `undefined` where nothing was scored.
 */
export function weightedMean(sums: WeightedSums): WeightedMean | undefined {
  if (!(sums.w > 0)) return undefined
  const mean = sums.wy / sums.w
  const squares = sums.w2y2 - 2 * mean * sums.w2y + mean * mean * sums.w2
  const kept = sums.wy2 - mean * sums.wy
  // Rounding may leave a little less than nothing where every probability is 1.
  const standardError = Math.sqrt(Math.max(0, squares - kept)) / sums.w
  const half = 1.96 * standardError
  return { mean, standardError, interval95: [Math.max(0, mean - half), Math.min(1, mean + half)] }
}

/** The sums with one more scored run in them. */
export function addWeighted(sums: WeightedSums, probability: number, y: number): WeightedSums {
  const w = 1 / probability
  return {
    w: sums.w + w,
    wy: sums.wy + w * y,
    wy2: sums.wy2 + w * y * y,
    w2: sums.w2 + w * w,
    w2y: sums.w2y + w * w * y,
    w2y2: sums.w2y2 + w * w * y * y,
  }
}

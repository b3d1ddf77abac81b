/**
 * Sums over scored runs, as the counters `spanscore.sum.*` carry them. `w` = 1/probability of the run, `y` = its score's
 * position in the range, 0..1, turned so that higher is better.
 */
export interface WeightedSums {
  /** Σ w: the number of runs that the scored ones represent. */
  readonly w: number
  /** Σ w·y. */
  readonly wy: number
  /** Σ w·y². */
  readonly wy2: number
  /** Σ w². */
  readonly w2: number
  /** Σ w²·y. */
  readonly w2y: number
  /** Σ w²·y². */
  readonly w2y2: number
}

/** The mean over all runs, of which a sample was scored. The recording rules of `collector-config` compute the same. */
export interface WeightedMean {
  /** 0 to 1. */
  readonly mean: number
  /** The standard error of the mean as an estimate of the agent's behaviour. It is not 0 even if every run was scored. */
  readonly standardError: number
  /** The number of equally weighted runs that would give an estimate of the same precision (Kish's effective sample size). */
  readonly n: number
  /** Wilson's, with `n` runs; within 0 to 1. */
  readonly interval95: readonly [number, number]
}

/** The rounding error of a sum of squares, as a share of the sum of squared weights. */
const ROUNDING = 1e-12

/** A variance below this is a rounding error. */
const NO_VARIANCE = 1e-9

/** The 97.5 % point of the normal distribution. */
const Z = 1.96

/**
 * The Hájek estimate Σwy/Σw of the mean over all runs, scored or not, with the variance Σ w²(y−ȳ)² / (Σw)² (Särndal,
 * Swensson, Wretman, "Model Assisted Survey Sampling", 5.7) and Wilson's interval. Its `n` is ȳ(1−ȳ) over that variance, and at
 * most Kish's (Σw)²/Σw². Scores between 0 and 1 vary less than scores of 0 and 1 with the same mean, so the interval is not too
 * narrow for them.
 *
 * @returns `undefined` if nothing was scored.
 */
export function weightedMean(sums: WeightedSums): WeightedMean | undefined {
  if (!(sums.w > 0)) return undefined
  const mean = Math.min(1, Math.max(0, sums.wy / sums.w))
  const squares = sums.w2y2 - 2 * mean * sums.w2y + mean * mean * sums.w2
  // If all scores are equal, rounding makes this slightly more or less than 0.
  const variance = squares > ROUNDING * sums.w2 ? squares / sums.w ** 2 : 0
  const kish = sums.w ** 2 / sums.w2
  const spread = mean * (1 - mean)
  const n = variance > NO_VARIANCE ? Math.min(kish, Math.max(1, spread / variance)) : kish
  const middle = mean + Z ** 2 / 2 / n
  const half = Z * Math.sqrt(spread / n + Z ** 2 / 4 / n ** 2)
  const scale = 1 + Z ** 2 / n
  const interval95 = [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)] as const
  return { mean, standardError: Math.sqrt(variance), n, interval95 }
}

/**
 * Adds one scored run to the sums.
 *
 * @param ys the position of its score; of a scorer of calls, those of its calls. They are one observation, because they share the run: a cluster
 *   of n calls whose positions sum to t. The formulas of the mean and its variance stay the same, because the variance of a ratio sums
 *   w²(t − n·ȳ)² over clusters (Cochran, "Sampling Techniques", 9A.1)
 */
export function addWeighted(sums: WeightedSums, probability: number, ...ys: readonly number[]): WeightedSums {
  const w = 1 / probability
  const n = ys.length
  const t = ys.reduce((sum, y) => sum + y, 0)
  return {
    w: sums.w + w * n,
    wy: sums.wy + w * t,
    wy2: sums.wy2 + w * ys.reduce((sum, y) => sum + y * y, 0),
    w2: sums.w2 + (w * n) ** 2,
    w2y: sums.w2y + w * n * w * t,
    w2y2: sums.w2y2 + (w * t) ** 2,
  }
}

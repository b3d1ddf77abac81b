/** A point in time, in seconds, and what was measured there. */
export type Sample = readonly [seconds: number, value: number]

/** A straight line through samples by least squares. */
export interface Trend {
  readonly mean: number
  /** Of the value, per second. */
  readonly slope: number
  /** Standard error of the slope. */
  readonly slopeError: number
}

/** @throws RangeError if there are fewer than three samples */
export function trendOf(samples: readonly Sample[]): Trend {
  if (samples.length < 3) throw new RangeError(`expected at least 3 samples, got ${samples.length}`)
  const count = samples.length
  const meanX = samples.reduce((sum, [x]) => sum + x, 0) / count
  const mean = samples.reduce((sum, [, y]) => sum + y, 0) / count
  const spread = samples.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  const slope = samples.reduce((sum, [x, y]) => sum + (x - meanX) * (y - mean), 0) / spread
  const residue = samples.reduce((sum, [x, y]) => sum + (y - mean - slope * (x - meanX)) ** 2, 0)
  return { mean, slope, slopeError: Math.sqrt(residue / (count - 2) / spread) }
}

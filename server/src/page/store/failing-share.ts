import { weightedMean } from 'spanscore/engine'
import type { WeightedMean } from 'spanscore/engine'

/** Sums of weights, and of their squares: of scores with a label, and of those that fail. */
export interface FailingSums {
  readonly labelled: number
  readonly labelled2: number
  readonly failing: number
  readonly failing2: number
}

/** They are columns of a SELECT from scores. */
export const FAILING_SUMS = `
  total(CASE WHEN label IS NOT NULL THEN weight END) AS labelled, total(CASE WHEN label IS NOT NULL THEN weight * weight END) AS labelled2,
  total(CASE label WHEN 'fail' THEN weight END) AS failing, total(CASE label WHEN 'fail' THEN weight * weight END) AS failing2`

/** The weighted share of failing scores with its interval; `undefined` without labels. */
export function failingShare({ labelled, labelled2, failing, failing2 }: FailingSums): WeightedMean | undefined {
  if (!(labelled > 0)) return undefined
  // A run counts 1 if it fails and 0 if it passes, and both are their own squares.
  return weightedMean({ w: labelled, wy: failing, wy2: failing, w2: labelled2, w2y: failing2, w2y2: failing2 })
}

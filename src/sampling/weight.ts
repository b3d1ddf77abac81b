import type { Evaluation, SkipReason } from '../model/score.ts'

/** A run that represents more runs than this would decide a mean alone: it is refused, and no score carries such a weight. */
export const MAX_WEIGHT = 1000

/** The smallest probability with which a run may be chosen. */
export const MIN_PROBABILITY: number = 1 / MAX_WEIGHT

/** Runs that were chosen to be scored, and then could not be. */
export const LOST: ReadonlySet<SkipReason> = new Set([
  'refused',
  'circuit-open',
  'judge-unavailable',
  'queue-full',
  'expired',
  'shutdown',
])

/** How many runs a run represents: 1/(probability × upstream probability), at most `MAX_WEIGHT`. */
export function weightAt(probability: number, upstreamProbability = 1): number {
  return Math.min(MAX_WEIGHT, 1 / (probability * upstreamProbability))
}

/**
 * The weight of an evaluation whose run was chosen to be scored, whether it was or not; `undefined` for runs that were left
 * out by a filter or by chance, that there was nothing to ask about, or whose probability is not known.
 */
export function weightOf({ score, probability, upstreamProbability }: Evaluation): number | undefined {
  if (probability === undefined || !(probability > 0)) return undefined
  if (score.status === 'skipped' && !LOST.has(score.reason)) return undefined
  return weightAt(probability, upstreamProbability)
}

import type { Evaluation, Failed, Scored, Skipped, SkipReason } from '../model/score.ts'

/** The largest weight. A run that represents more runs than this would decide a mean alone, so it is refused. */
export const MAX_WEIGHT = 1000

/** The smallest probability with which a run may be chosen. */
export const MIN_PROBABILITY: number = 1 / MAX_WEIGHT

/** The skip reasons of runs that were chosen to be scored and then could not be. */
export const LOST: ReadonlySet<SkipReason> = new Set([
  'no-content',
  'incomplete',
  'no-such-tool',
  'refused',
  'circuit-open',
  'judge-unavailable',
  'queue-full',
  'expired',
  'shutdown',
])

/** Whether a missing score should have been there. */
export function isLost(score: Failed | Skipped | Pick<Scored, 'status'>): boolean {
  return score.status === 'failed' || (score.status === 'skipped' && LOST.has(score.reason))
}

/** How many runs a run represents: 1/(probability × upstream probability), at most `MAX_WEIGHT`. */
export function weightAt(probability: number, upstreamProbability = 1): number {
  return Math.min(MAX_WEIGHT, 1 / (probability * upstreamProbability))
}

/**
 * The weight of an evaluation whose run was chosen to be scored, with or without success. It is `undefined` for runs that a filter or
 * sampling left out, for which the scorer had nothing to ask, or whose probability is unknown.
 */
export function weightOf({
  score,
  probability,
  upstreamProbability,
}: Pick<Evaluation, 'probability' | 'upstreamProbability'> & {
  readonly score: Failed | Skipped | Pick<Scored, 'status'>
}): number | undefined {
  if (probability === undefined || !(probability > 0)) return undefined
  if (score.status !== 'scored' && !isLost(score)) return undefined
  return weightAt(probability, upstreamProbability)
}

import type { Rates } from './rates.ts'

/** If `informedness` is below this, the judge's verdicts depend so little on the run that its share is not corrected. */
export const LEAST_INFORMEDNESS = 0.3

/** The share of runs that pass, corrected for the errors of the judge. */
export interface CorrectedShare {
  readonly share: number
  readonly variance: number
  readonly interval95: readonly [number, number]
}

/** The figures of a judge that the correction needs. */
export type JudgeRates = Pick<
  Rates,
  'sensitivity' | 'specificity' | 'sensitivityVariance' | 'specificityVariance' | 'covariance'
>

/** Sensitivity + specificity − 1 (Youden's J): 1 if the judge is always right, 0 if it tosses a coin. */
export function informedness({ sensitivity, specificity }: Pick<Rates, 'sensitivity' | 'specificity'>): number {
  return sensitivity + specificity - 1
}

/**
 * The share of runs that people would pass, from the share that the judge passes (Rogan and Gladen 1978), with its variance by
 * the delta method. It assumes that sensitivity and specificity are what they were when the judge was calibrated. The rules in
 * `rules.ts` are the same formula.
 *
 * @param passed The share that the judge passes, by weight, 0 to 1.
 * @param n The effective number of runs from which that share was estimated.
 * @returns `undefined` if sensitivity + specificity − 1 is below .3, because dividing by so small a number would give noise.
 */
export function correctedShare(passed: number, n: number, rates: JudgeRates): CorrectedShare | undefined {
  const says = informedness(rates)
  if (!(says >= LEAST_INFORMEDNESS)) return undefined
  const share = clamp((passed + rates.specificity - 1) / says)
  const ofTraffic = (passed * (1 - passed)) / n
  const ofJudge =
    share ** 2 * rates.sensitivityVariance +
    (1 - share) ** 2 * rates.specificityVariance -
    2 * share * (1 - share) * rates.covariance
  const variance = (ofTraffic + ofJudge) / says ** 2
  const half = 1.96 * Math.sqrt(variance)
  return { share, variance, interval95: [clamp(share - half), clamp(share + half)] }
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}

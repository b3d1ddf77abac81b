import { z } from 'zod/v4'

/** How many labelled runs there are, and on how many of them the judge agrees with people. */
export interface Agreement {
  readonly runs: number
  readonly agreed: number
}

/** The agreement of the judge in the passes of `spanscore canary --reference`. Later passes are compared with it. */
export interface CanaryReference {
  /** When the last of these passes was made: ISO 8601. */
  readonly at: string
  /** A hash (8 hex digits) of the labelled runs and their labels: passes over other runs cannot be compared. */
  readonly set: string
  /** The agreement on runs that people pass, and on runs that they fail. */
  readonly pass: Agreement
  readonly fail: Agreement
}

/** The calibration of one version of a scorer with one judge model, by the name that the provider returned. It holds no content. */
export interface Calibration {
  readonly scorer: string
  readonly version: string
  /** Absent for scorers that ask no model. */
  readonly judgeModel?: string | undefined
  /** The judged runs in the files ended between these two times: ISO 8601. */
  readonly from: string
  readonly to: string
  /** When the last label was given. */
  readonly labelledAt: string
  /** How many judged runs the files hold, how many of these people pass, and how many they fail. */
  readonly judged: number
  readonly labelledPass: number
  readonly labelledFail: number
  /** The share of the judged runs that the judge passes, by weight. */
  readonly judgePassed: number
  /** Shares of all judged runs, by weight. The letters p and n are what people say, t and f whether the judge agrees. */
  readonly confusion: { readonly tp: number; readonly fn: number; readonly tn: number; readonly fp: number }
  readonly sensitivity: number
  readonly sensitivity95: readonly [number, number]
  readonly sensitivityVariance: number
  readonly specificity: number
  readonly specificity95: readonly [number, number]
  readonly specificityVariance: number
  /** The covariance of the estimates of sensitivity and specificity. */
  readonly covariance: number
  /** Cohen's κ for all judged runs, by weight. */
  readonly kappa: number
  /** The share of the judged runs that people would pass (PPI++). It holds for these runs only. */
  readonly ppi: { readonly mean: number; readonly interval95: readonly [number, number]; readonly lambda: number }
  readonly reference?: CanaryReference | undefined
}

/** The content of `spanscore.calibration.json`. */
export interface CalibrationFile {
  readonly calibrations: readonly Calibration[]
}

const share = z.number().min(0).max(1)
const interval = z.tuple([share, share])
const count = z.int().min(0)
const agreement = z.object({ runs: count, agreed: count })

/** The schema of `spanscore.calibration.json`. */
export const calibrationFileSchema: z.ZodType<CalibrationFile> = z.object({
  calibrations: z.array(
    z.object({
      scorer: z.string(),
      version: z.string(),
      judgeModel: z.string().optional(),
      from: z.string(),
      to: z.string(),
      labelledAt: z.string(),
      judged: count,
      labelledPass: count,
      labelledFail: count,
      judgePassed: share,
      confusion: z.object({ tp: share, fn: share, tn: share, fp: share }),
      sensitivity: share,
      sensitivity95: interval,
      sensitivityVariance: z.number().min(0),
      specificity: share,
      specificity95: interval,
      specificityVariance: z.number().min(0),
      covariance: z.number(),
      kappa: z.number(),
      ppi: z.object({ mean: share, interval95: interval, lambda: share }),
      reference: z.object({ at: z.string(), set: z.string(), pass: agreement, fail: agreement }).optional(),
    }),
  ),
})

/** What identifies a judge: only scores with the same identity are compared and corrected together. */
export type JudgeIdentity = Pick<Calibration, 'scorer' | 'version' | 'judgeModel'>

/** The identity as a key for a map. */
export function judgeKey({ scorer, version, judgeModel }: JudgeIdentity): string {
  return JSON.stringify([scorer, version, judgeModel ?? null])
}

/** The identity as people read it: `prompt_alignment 1a2b3c4d (gpt-5-mini)`. */
export function judgeName({ scorer, version, judgeModel }: JudgeIdentity): string {
  return `${scorer} ${version}${judgeModel === undefined ? '' : ` (${judgeModel})`}`
}

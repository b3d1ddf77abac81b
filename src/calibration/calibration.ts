import { z } from 'zod/v4'

/** On how many of the labelled runs the judge agrees with people. */
export interface Agreement {
  readonly runs: number
  readonly agreed: number
}

/** How the judge did on the labelled runs when `spanscore canary --reference` judged them: what later passes are compared with. */
export interface CanaryReference {
  /** ISO 8601. */
  readonly at: string
  /** 8 hex digits of the labelled runs and their labels: other runs cannot be compared. */
  readonly set: string
  /** Of the runs that people pass, and of those that they fail. */
  readonly pass: Agreement
  readonly fail: Agreement
}

/** What labels say of one scorer in one version with one judge model as answered. It holds no content. */
export interface Calibration {
  readonly scorer: string
  readonly version: string
  /** Absent for scorers that ask no model. */
  readonly judgeModel?: string | undefined
  /** The runs that were labelled from ended between these: ISO 8601. */
  readonly from: string
  readonly to: string
  /** When the last label was given. */
  readonly labelledAt: string
  /** How many judged runs the files hold, and how many of them people pass and fail. */
  readonly judged: number
  readonly labelledPass: number
  readonly labelledFail: number
  /** The share of the judged runs that the judge passes, by weight. */
  readonly judgePassed: number
  /** Shares of all judged runs, by weight: p and n are what people say, t and f whether the judge agrees. */
  readonly confusion: { readonly tp: number; readonly fn: number; readonly tn: number; readonly fp: number }
  readonly sensitivity: number
  readonly sensitivity95: readonly [number, number]
  readonly sensitivityVariance: number
  readonly specificity: number
  readonly specificity95: readonly [number, number]
  readonly specificityVariance: number
  /** Of the estimates of sensitivity and specificity. */
  readonly covariance: number
  /** Cohen's κ, weighted to all judged runs. */
  readonly kappa: number
  /** The share of the judged runs that people would pass: PPI++, for these runs only. */
  readonly ppi: { readonly mean: number; readonly interval95: readonly [number, number]; readonly lambda: number }
  readonly reference?: CanaryReference | undefined
}

/** What `spanscore.calibration.json` holds. */
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

/** What only equal scores have in common: they alone are compared and corrected together. */
export type JudgeIdentity = Pick<Calibration, 'scorer' | 'version' | 'judgeModel'>

/** A key for a map. */
export function judgeKey({ scorer, version, judgeModel }: JudgeIdentity): string {
  return JSON.stringify([scorer, version, judgeModel ?? null])
}

/** For people: `prompt_alignment 1a2b3c4d (gpt-5-mini)`. */
export function judgeName({ scorer, version, judgeModel }: JudgeIdentity): string {
  return `${scorer} ${version}${judgeModel === undefined ? '' : ` (${judgeModel})`}`
}

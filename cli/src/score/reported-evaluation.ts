import type { Finding } from '../../../src/model/finding.ts'
import type { CallScore, Evaluation, Score } from '../../../src/model/score.ts'

/** A score, or why there is none. It holds no content but explanations and findings. */
export interface ReportedScore {
  readonly status: 'scored' | 'skipped' | 'failed'
  readonly value?: number
  readonly label?: 'pass' | 'fail'
  readonly explanation?: string
  /** What the scorer found. */
  readonly findings?: readonly Finding[]
  /** Why there is no value: a skip reason or a failure code. */
  readonly reason?: string
  readonly message?: string
}

/** One line of the report: one scorer's result for one run. */
export interface ReportedEvaluation extends ReportedScore {
  readonly runId: string
  readonly agent?: string
  /** Equal for runs of the same agent with the same input. */
  readonly inputKey?: string
  readonly scorer: string
  readonly version: string
  /** What the scores are about, if they are not about runs. */
  readonly level?: string
  /** The scores of the run's calls, by a scorer of calls. */
  readonly calls?: readonly (Omit<CallScore, 'score'> & ReportedScore)[]
  readonly judge?: Evaluation['judge']
}

/** A score as the report has it. */
export function toReportedScore(score: Score): ReportedScore {
  const { status } = score
  if (status === 'skipped') return { status, reason: score.reason, message: score.message }
  if (status === 'failed') return { status, reason: score.code, message: score.message }
  const { value, label, explanation, findings } = score
  return {
    status,
    value,
    label,
    ...(explanation !== undefined && { explanation }),
    ...(findings !== undefined && { findings }),
  }
}

import type { Evaluation } from '../../../src/model/score.ts'

/** One line of the report: one scorer's result for one run. It holds no content but explanations. */
export interface ReportedEvaluation {
  readonly runId: string
  readonly agent?: string
  /** Equal for runs of the same agent with the same input. */
  readonly inputKey?: string
  readonly scorer: string
  readonly version: string
  readonly status: 'scored' | 'skipped' | 'failed'
  readonly value?: number
  readonly label?: 'pass' | 'fail'
  readonly explanation?: string
  /** Why there is no value: a skip reason or a failure code. */
  readonly reason?: string
  readonly message?: string
  readonly judge?: Evaluation['judge']
}

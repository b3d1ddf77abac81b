import type { Evaluation, Failed, FailureCode, Skipped, SkipReason } from '../model/score.ts'

/**
 * The error with which `.run()` rejects if there is no score. It has the message of the `skipped` or `failed` score, `code` is why there is
 * none, such as `judge-compromised`, and `evaluation` is the whole result. `cause` is the error that the scorer threw, if any.
 */
export class ScoreUnavailableError extends Error {
  override readonly name = 'ScoreUnavailableError'
  readonly code: SkipReason | FailureCode
  readonly evaluation: Evaluation

  /** @param score that of the evaluation */
  constructor(evaluation: Evaluation, score: Skipped | Failed, cause?: unknown) {
    super(score.message, cause === undefined ? undefined : { cause })
    this.code = score.status === 'skipped' ? score.reason : score.code
    this.evaluation = evaluation
  }
}

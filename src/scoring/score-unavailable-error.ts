import type { Evaluation } from '../model/score.ts'

/**
 * The error with which `.run()` rejects if there is no score. It has the message of the `skipped` or `failed` score, and `evaluation`
 * is the whole result. `cause` is the error that the scorer threw, if any.
 */
export class ScoreUnavailableError extends Error {
  override readonly name = 'ScoreUnavailableError'
  readonly evaluation: Evaluation

  constructor(evaluation: Evaluation, cause?: unknown) {
    const { score } = evaluation
    super(score.status === 'scored' ? 'Scored.' : score.message, cause === undefined ? undefined : { cause })
    this.evaluation = evaluation
  }
}

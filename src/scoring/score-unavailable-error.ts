import type { Evaluation } from '../model/score.ts'

/**
 * What `.run()` rejects with if there is no score. Its message is that of the `skipped` or `failed` score, and `evaluation` holds
 * all of it. `cause` is what the scorer threw, if it threw.
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

import type { Evaluation } from '../model/score.ts'

/**
 * What `.run()` rejects with where there is no score: the message of the `skipped` or `failed` score, which is whole in
 * `evaluation`. `cause` is what the scorer threw, if it threw.
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

import type { Evaluation } from '../model/score.ts'

/**
<<<<<<< HEAD
 * What `.run()` rejects with where there is no score: the message of the `skipped` or `failed` score, which is whole in
 * `evaluation`. `cause` is what the scorer threw, if it threw.
=======
 * What `.run()` rejects with if there is no score. Its message is that of the `skipped` or `failed` score, and `evaluation` holds
 * all of it. `cause` is what the scorer threw, if it threw.
>>>>>>> 204a563 (Every page with code that can run is run; a judge names all packages that it lacks)
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

import type { AgentRun } from '../../model/agent-run.ts'
import { uniformOf } from '../../sampling/decide.ts'
import { MIN_PROBABILITY } from '../../sampling/weight.ts'
import type { Failed, Skipped } from '../../model/score.ts'
import { explain, contentFree } from '../../model/explanation.ts'
import { describeError, show } from '../../scoring/format-value.ts'
import { runForeign } from '../../scoring/run-foreign.ts'
import { disown, isThenable } from '../../scoring/thenable.ts'
import { failed, skipped } from '../../scoring/unscored.ts'
import type { ResolvedScorer } from '../config/options.ts'

/** A run that a scorer takes on at this rate, or why it does not. */
export type Decision = { readonly status: 'chosen'; readonly rate: number } | Skipped | Failed

/** A trace's place between 0 and 1, worked out when a rate first asks for it: a hash is not free. */
export class Place {
  readonly #traceId: string
  readonly #salt: string | undefined
  #value: number | undefined

  constructor(traceId: string, salt: string | undefined) {
    this.#traceId = traceId
    this.#salt = salt
  }

  get value(): number {
    this.#value ??= uniformOf(this.#traceId, this.#salt)
    return this.#value
  }

  /** Whether the run is kept at a rate. What is kept at one is kept at every higher one. */
  isBelow(rate: number): boolean {
    return rate >= 1 || (rate > 0 && this.value < rate)
  }
}

/** Whether a scorer with a fixed rate keeps the trace; a scorer whose rate is a function may always. */
export function mayWant({ sample }: ResolvedScorer, place: Place): boolean {
  return typeof sample === 'function' || place.isBelow(sample)
}

/** Whether the run is of an agent that the scorer is for. */
export function isForAgent({ agents }: ResolvedScorer, run: AgentRun): boolean {
  return agents === undefined || (run.agent.name !== undefined && agents.has(run.agent.name))
}

/** Left out by its fixed rate. */
export function sampledOut(rate: number): Skipped {
  return skipped('sampled-out', explain`Not among the sampled runs (rate ${rate}).`)
}

/** Left out by `agent` or `when`. */
export function filtered(by: 'agent' | 'when'): Skipped {
  return skipped('filtered', explain`Left out by the scorer's ${contentFree(by)}.`)
}

/** Why a run that was chosen at this probability is not scored after all, because it would stand for too many others. */
export function tooHeavy(probability: number, upstreamProbability = 1): Skipped | undefined {
  // Products of rates carry rounding errors, which are no reason to refuse.
  if (probability * upstreamProbability >= MIN_PROBABILITY * (1 - 1e-9)) return undefined
  return skipped(
    'refused',
    contentFree(
      'It would count for more than 1,000 runs, and decide the mean alone: ' +
        'raise sample or the budget, so that one run in 1,000 is scored at least.',
    ),
  )
}

/** Asks the application's own functions, `when` and `sample`, about a finished run. */
export function decideByRun({ id, when, sample }: ResolvedScorer, run: AgentRun, place: Place): Decision {
  if (when !== undefined) {
    const answer = runForeign((): unknown => when(run))
    if (!answer.ok) return threw(id, 'when', answer.error)
    if (isThenable(answer.value)) return isAsync(id, 'when', 'true or false', answer.value)
    if (!answer.value) return filtered('when')
  }
  if (typeof sample === 'number') return { status: 'chosen', rate: sample }
  const given = runForeign((): unknown => sample(run))
  if (!given.ok) return threw(id, 'sample', given.error)
  const rate = given.value
  if (isThenable(rate)) return isAsync(id, 'sample', 'a number from 0 to 1', rate)
  if (typeof rate !== 'number' || !(rate >= 0 && rate <= 1)) {
    return failed(
      'scorer-threw',
      explain`${contentFree(id)}: expected sample to give a number from 0 to 1, got ${show(rate)}.`,
    )
  }
  return place.isBelow(rate) ? { status: 'chosen', rate } : sampledOut(rate)
}

/** A promise is neither yes nor no, and one that rejects must not end the application. */
function isAsync(id: string, what: string, expected: string, promise: PromiseLike<unknown>): Failed {
  disown(promise)
  const message = `${id}: expected ${what} to give ${expected}, got a promise; it cannot be async.`
  return failed('scorer-threw', contentFree(message))
}

function threw(id: string, what: string, error: unknown): Failed {
  return failed('scorer-threw', {
    text: `${id}: its ${what} threw ${show(error, 300)}.`,
    withoutContent: `${id}: its ${what} threw ${describeError(error)}.`,
  })
}

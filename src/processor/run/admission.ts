import type { AgentRun } from '../../model/agent-run.ts'
import { uniformOf } from '../../sampling/decide.ts'
import type { Failed, Skipped } from '../../model/score.ts'
import { show } from '../../scoring/format-value.ts'
import { disown, isThenable } from '../../scoring/thenable.ts'
import type { ResolvedScorer } from '../config/options.ts'

/** A run that a scorer takes on at this rate, or why it does not. */
export type Decision = { readonly status: 'chosen'; readonly rate: number } | Skipped | Failed

/** A trace's place between 0 and 1, worked out when a rate first asks for it: a hash is not free. */
export class Place {
  readonly #traceId: string
  #value: number | undefined

  constructor(traceId: string) {
    this.#traceId = traceId
  }

  get value(): number {
    this.#value ??= uniformOf(this.#traceId)
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
  return { status: 'skipped', reason: 'sampled-out', message: `Not among the sampled runs (rate ${rate}).` }
}

/** Left out by `agent` or `when`. */
export function filtered(by: 'agent' | 'when'): Skipped {
  return { status: 'skipped', reason: 'filtered', message: `Left out by the scorer's ${by}.` }
}

/** Asks the application's own functions, `when` and `sample`, about a finished run. */
export function decideByRun(scorer: ResolvedScorer, run: AgentRun, place: Place): Decision {
  if (scorer.when !== undefined) {
    try {
      const answer: unknown = scorer.when(run)
      if (isThenable(answer)) return isAsync(scorer.id, 'when', 'true or false', answer)
      if (!answer) return filtered('when')
    } catch (error) {
      return threw(scorer.id, 'when', error)
    }
  }
  if (typeof scorer.sample === 'number') return { status: 'chosen', rate: scorer.sample }
  let rate: unknown
  try {
    rate = scorer.sample(run)
    if (isThenable(rate)) return isAsync(scorer.id, 'sample', 'a number from 0 to 1', rate)
  } catch (error) {
    return threw(scorer.id, 'sample', error)
  }
  if (typeof rate !== 'number' || !(rate >= 0 && rate <= 1)) {
    return {
      status: 'failed',
      code: 'scorer-threw',
      message: `${scorer.id}: expected sample to give a number from 0 to 1, got ${show(rate)}.`,
    }
  }
  return place.isBelow(rate) ? { status: 'chosen', rate } : sampledOut(rate)
}

/** A promise is neither yes nor no, and one that rejects must not end the application. */
function isAsync(id: string, what: string, expected: string, promise: PromiseLike<unknown>): Failed {
  disown(promise)
  return {
    status: 'failed',
    code: 'scorer-threw',
    message: `${id}: expected ${what} to give ${expected}, got a promise; it cannot be async.`,
  }
}

function threw(id: string, what: string, error: unknown): Failed {
  return { status: 'failed', code: 'scorer-threw', message: `${id}: its ${what} threw ${show(error, 300)}.` }
}

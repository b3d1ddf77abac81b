import { contentFree, explain } from '../model/explanation.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { Failed, Skipped } from '../model/score.ts'
import type { SamplePoint } from '../sampling/sample-point.ts'
import { describeError, formatValue } from '../scoring/format-value.ts'
import { runForeign } from '../scoring/run-foreign.ts'
import { disown, isThenable } from '../scoring/thenable.ts'
import { failed } from '../scoring/unscored.ts'
import type { ResolvedScorer } from './config/options.ts'
import { filteredBy, sampledOut } from './rejections.ts'

/** The rate at which a scorer chooses a run, or why it does not choose it. */
export type Choice = { readonly status: 'chosen'; readonly rate: number } | Skipped | Failed

/** Whether the scorer scores nested agents. */
export function isForNested({ scope, agents }: ResolvedScorer): boolean {
  return scope === 'every-agent' || agents !== undefined
}

/** Whether the scorer's `agent` matches the run. */
export function isForAgent({ agents }: ResolvedScorer, run: AgentRun): boolean {
  return agents === undefined || (run.agent.name !== undefined && agents.has(run.agent.name))
}

/** Whether the scorer's rate may keep the trace. A rate that is a function may keep any. */
export function mayChoose({ sample }: ResolvedScorer, point: SamplePoint): boolean {
  return typeof sample === 'function' || point.isBelow(sample)
}

/** The rate of a run that is never read; `undefined` if the run itself would decide whether it is for the scorer. */
export function rateUnread({ agents, when, sample }: ResolvedScorer): number | undefined {
  return typeof sample === 'number' && when === undefined && agents === undefined ? sample : undefined
}

/** Applies the scorer's `agent`, `when` and `sample` to the run, in this order. */
export function chooseRun(scorer: ResolvedScorer, run: AgentRun, point: SamplePoint): Choice {
  const { id, when, sample } = scorer
  if (!isForAgent(scorer, run)) return filteredBy('agent')
  if (when !== undefined) {
    const answer = runForeign((): unknown => when(run))
    if (!answer.ok) return threw(id, 'when', answer.error)
    if (isThenable(answer.value)) return isAsync(id, 'when', 'true or false', answer.value)
    if (!answer.value) return filteredBy('when')
  }
  const rate = rateOf(id, sample, run)
  if (typeof rate !== 'number') return rate
  return point.isBelow(rate) ? { status: 'chosen', rate } : sampledOut(rate)
}

function rateOf(id: string, sample: ResolvedScorer['sample'], run: AgentRun): number | Failed {
  if (typeof sample === 'number') return sample
  const given = runForeign((): unknown => sample(run))
  if (!given.ok) return threw(id, 'sample', given.error)
  const rate = given.value
  if (isThenable(rate)) return isAsync(id, 'sample', 'a number from 0 to 1', rate)
  if (typeof rate === 'number' && rate >= 0 && rate <= 1) return rate
  return failed(
    'scorer-threw',
    explain`${contentFree(id)}: expected sample to give a number from 0 to 1, got ${formatValue(rate)}.`,
  )
}

/** A promise is no answer, and its rejection must not end the application. */
function isAsync(id: string, what: string, expected: string, promise: PromiseLike<unknown>): Failed {
  disown(promise)
  const message = `${id}: expected ${what} to give ${expected}, got a promise; it cannot be async.`
  return failed('scorer-threw', contentFree(message))
}

function threw(id: string, what: string, error: unknown): Failed {
  return failed('scorer-threw', {
    text: `${id}: its ${what} threw ${formatValue(error, 300)}.`,
    withoutContent: `${id}: its ${what} threw ${describeError(error)}.`,
  })
}

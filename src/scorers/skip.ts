import { contentFree, explain } from '../model/explanation.ts'
import type { Explanation } from '../model/explanation.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { Skipped, SkipReason } from '../model/score.ts'
import { cureOf } from '../runs/view/cure-of.ts'
import { ReconstructedRun } from '../runs/view/run.ts'
import { skipped } from '../scoring/unscored.ts'

/** No score, with the reason and what to do about it. The message marks the parts that may quote the run. */
export function skip(reason: SkipReason, message: Explanation): Skipped {
  return skipped(reason, message)
}

/**
 * `skipped: run-failed` if the run failed before its model could choose what to do next: an outage is not a wrong choice. A run
 * that failed after its last model call, for example in a tool, has made its choices.
 */
export function skipWithoutChoices(run: AgentRun, id: string): Skipped | undefined {
  if (run.status !== 'error' && run.status !== 'aborted') return undefined
  const last = run.steps.at(-1)
  const hasChosen = last === undefined ? run.toolCalls.length > 0 : last.status !== 'error' && last.status !== 'aborted'
  if (hasChosen) return undefined
  return skip(
    'run-failed',
    contentFree(
      `${id}: the run ${run.status === 'error' ? 'failed' : 'was aborted'} before its model could choose what to do.`,
    ),
  )
}

/**
 * `skipped: no-content` if the run lacks a fact, with the setting that records it; otherwise `undefined`. A partly missing fact
 * (`toolCalls[2].arguments`) is named with its place.
 */
export function skipWithoutFact(run: AgentRun, fact: string, id: string): Skipped | undefined {
  const missing = ReconstructedRun.missingIn(run, fact)
  if (missing === undefined) return undefined
  const cure =
    cureOf(missing) ??
    (fact === 'toolCalls' && run.steps.length === 0
      ? "There is no span of a model call: instrument the model's client"
      : undefined)
  const sentences = [
    `${id}: the spans do not hold ${fact} (${missing.why}).`,
    ...(cure === undefined ? [] : [`${cure}.`]),
  ]
  return skip('no-content', contentFree(sentences.join(' ')))
}

/** For scorers of the calls that were made: `skipped: no-content` if they are not recorded, `not-applicable` if there are none. */
export function skipWithoutCalls(run: AgentRun, id: string): Skipped | undefined {
  const unknown = skipWithoutFact(run, 'toolCalls', id)
  if (unknown !== undefined || run.toolCalls.length > 0) return unknown
  return skip('not-applicable', explain`${contentFree(id)}: no tool was called.`)
}

import { contentFree, contentOnly, explain } from '../model/explanation.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { Skipped } from '../model/score.ts'
import { cureOf } from '../runs/view/cure-of.ts'
import { ReconstructedRun } from '../runs/view/run.ts'
import { waitingCallOf } from '../runs/view/waiting-call.ts'
import { skipped } from './unscored.ts'

/** The facts that a run may lack. */
export const RUN_FACTS = [
  'input',
  'output',
  'systemInstructions',
  'availableTools',
  'toolCalls',
  'arguments',
  'result',
  'documents',
] as const

/**
 * A fact that a run may lack: `input` with the question in it, `output`, `systemInstructions`, `availableTools`; `toolCalls`, which are not
 * all known if calls were not recorded, or the run waits, or failed before its model could choose; `arguments` and `result` of a call;
 * `documents` of a retrieval.
 */
export type RunFact = (typeof RUN_FACTS)[number]

/** Why a run has no answer: it failed, it waits for somebody, its content was not recorded, or it gave none. */
export function skipWithoutAnswer(run: AgentRun, id: string): Skipped {
  return skipUnfinished(run, id) ?? skipWithoutFact(run, 'output', id) ?? noAnswer(id)
}

const noAnswer = (id: string): Skipped => skipped('no-output', contentFree(`${id}: the run has no answer.`))

/** Why a model call has no messages: its content was not recorded. What records that of its run records its own. */
export function skipWithoutMessages(run: AgentRun, step: string, fact: 'input' | 'output', id: string): Skipped {
  return (
    skipWithoutFact(run, fact, id) ??
    skipped('no-content', contentFree(`${id}: the spans do not hold ${step}.${fact}.`))
  )
}

/** `skipped: run-failed` if the run failed, `not-finished` if it waits for a person or for a client's tool. */
export function skipUnfinished(run: AgentRun, id: string): Skipped | undefined {
  if (run.status !== 'error' && run.status !== 'aborted') return skipWhileWaiting(run, id)
  const why = run.error?.message === undefined ? '' : ` (${run.error.message.slice(0, 200)})`
  return skipped(
    'run-failed',
    explain`${contentFree(id)}: the run ${contentFree(run.status === 'error' ? 'failed' : 'was aborted')}${contentOnly(why)}, so it has no answer.`,
  )
}

function skipWhileWaiting(run: AgentRun, id: string): Skipped | undefined {
  const call = waitingCallOf(run)
  if (run.status !== 'waiting' && call === undefined) return undefined
  const name = call === undefined ? contentFree('an answer from outside') : explain`${call.name}`
  return skipped(
    'not-finished',
    explain`${contentFree(id)}: the run waits for ${name}, which was called and not executed here.`,
  )
}

/** Why the calls of a run are not all known: the run failed before its model could choose, it waits, or calls were not recorded. */
export function skipWithoutAllCalls(run: AgentRun, id: string): Skipped | undefined {
  return (
    skipWithoutChoices(run, id) ??
    (run.status === 'waiting' ? skipWhileWaiting(run, id) : undefined) ??
    // An output that was not passed to `.run()` has no calls, which says nothing about the agent.
    (run.dialect === 'messages' && run.steps.length === 0 && run.output === undefined ? noAnswer(id) : undefined) ??
    skipWithoutFact(run, 'toolCalls', id)
  )
}

/**
 * `skipped: run-failed` if the run failed before its model could choose what to do next: an outage is not a wrong choice. A run that failed
 * in a tool has made its choices. If its last model call asked for no tool, a guardrail or a broken reply may have ended it.
 */
export function skipWithoutChoices(run: AgentRun, id: string): Skipped | undefined {
  if (run.status !== 'error' && run.status !== 'aborted') return undefined
  const last = run.steps.at(-1)
  const hasAsked = run.toolCalls.some(({ step }) => last === undefined || step === run.steps.length - 1)
  if (hasAsked && last?.status !== 'error' && last?.status !== 'aborted') return undefined
  return skipped(
    'run-failed',
    contentFree(
      `${id}: the run ${run.status === 'error' ? 'failed' : 'was aborted'} before its model could choose what to do.`,
    ),
  )
}

/**
 * `skipped: no-content` if the run lacks a fact, with the setting that records it; otherwise `undefined`.
 *
 * @param what as in `missing`: `output`, `toolCalls[2].arguments`
 */
export function skipWithoutFact(run: AgentRun, what: string, id: string): Skipped | undefined {
  const missing = ReconstructedRun.missingIn(run, what)
  if (missing === undefined) return undefined
  const cure =
    cureOf(missing) ??
    (what === 'toolCalls' && run.steps.length === 0
      ? "There is no span of a model call: instrument the model's client"
      : undefined)
  const sentences = [
    `${id}: the spans do not hold ${what} (${missing.why}).`,
    ...(cure === undefined ? [] : [`${cure}.`]),
  ]
  return skipped('no-content', contentFree(sentences.join(' ')))
}

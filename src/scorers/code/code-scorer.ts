import type { AgentRun } from '../../model/agent-run.ts'
import type { Skipped } from '../../model/score.ts'
import { skip, skipWithoutFact } from '../skip.ts'

/**
 * `skipped: no-content` where the arguments of a call were not recorded, with the switch that records them. A call whose
 * arguments are absent in a run of full content had none.
 */
export function skipWithoutArguments(run: AgentRun, id: string): Skipped | undefined {
  const unknown = run.toolCalls.findIndex((call) => call.arguments === undefined)
  if (unknown === -1) return undefined
  return skipWithoutFact(run, `toolCalls[${unknown}].arguments`, id)
}

/** The run's answer, or why there is none: the run failed, waits for somebody, or its content was not recorded. */
export function answerOf(run: AgentRun, id: string): string | Skipped {
  if (run.output !== undefined) return run.output
  if (run.status === 'error' || run.status === 'aborted') {
    return skip('run-failed', `${id}: the run ended as ${run.status}, so that there is no answer to look at.`)
  }
  const asked = run.steps.at(-1)?.toolCallIds ?? []
  const waiting = run.toolCalls.find(
    ({ id: callId, status }) => status === 'not-executed' && asked.includes(callId ?? ''),
  )
  if (waiting !== undefined) {
    return skip('not-finished', `${id}: the run waits for ${waiting.name}, which was asked for and not executed here.`)
  }
  return skipWithoutFact(run, 'output', id) ?? skip('no-output', `${id}: the run has no answer.`)
}

/** `1 call`, `3 calls`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** At most five of many, in words. */
export function list(items: readonly string[]): string {
  return items.length <= 5 ? items.join(', ') : `${items.slice(0, 5).join(', ')} and ${items.length - 5} more`
}

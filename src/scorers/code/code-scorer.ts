import { contentFree, explain, joinExplanations } from '../../model/explanation.ts'
import type { Explanation } from '../../model/explanation.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { Skipped } from '../../model/score.ts'
import { skip, skipWithoutFact } from '../skip.ts'
import { waitingCallOf } from '../../runs/view/waiting-call.ts'

/**
 * `skipped: no-content` if the arguments of a call were not recorded, with the setting that records them. A call without arguments in a run
 * with full content had none.
 */
export function skipWithoutArguments(run: AgentRun, id: string): Skipped | undefined {
  const unknown = run.toolCalls.findIndex((call) => call.arguments === undefined)
  if (unknown === -1) return undefined
  return skipWithoutFact(run, `toolCalls[${unknown}].arguments`, id)
}

/** Longer answers are not checked: code scorers run in the application's own thread. */
const MAX_ANSWER_LENGTH = 1_000_000

/** The run's answer, or why there is none: the run failed, waits for somebody, or its content was not recorded. */
export function answerOf(run: AgentRun, id: string): string | Skipped {
  if (run.output !== undefined) {
    if (run.output.length <= MAX_ANSWER_LENGTH) return run.output
    const message = explain`${contentFree(id)}: the answer has ${run.output.length} characters, and at most ${MAX_ANSWER_LENGTH} are read.`
    return skip('no-content', message)
  }
  if (run.status === 'error' || run.status === 'aborted') {
    return skip(
      'run-failed',
      explain`${contentFree(id)}: the run ${contentFree(run.status === 'error' ? 'failed' : 'was aborted')}, so it has no answer.`,
    )
  }
  const waiting = waitingCallOf(run)
  if (waiting !== undefined) {
    return skip(
      'not-finished',
      explain`${contentFree(id)}: the run waits for ${waiting.name}, which was called and not executed here.`,
    )
  }
  return skipWithoutFact(run, 'output', id) ?? skip('no-output', explain`${contentFree(id)}: the run has no answer.`)
}

/** `1 call`, `3 calls`. */
export function count(number: number, noun: string): Explanation {
  return explain`${number} ${contentFree(noun)}${contentFree(number === 1 ? '' : 's')}`
}

/** Maximum number of items of a list that are named. */
const MAX_LISTED = 5

/** Lists at most five items. */
export function list(items: readonly (string | Explanation)[]): Explanation {
  const shown = items.slice(0, MAX_LISTED).map((item) => (typeof item === 'string' ? explain`${item}` : item))
  return withRest(shown, items.length)
}

/** Lists at most five tool names. Names that the developer wrote are not content; names that a model invented are. */
export function listNames(names: readonly string[], configured: ReadonlySet<string>): Explanation {
  const shown = names.slice(0, MAX_LISTED).map((name) => (configured.has(name) ? contentFree(name) : explain`${name}`))
  return withRest(shown, names.length)
}

function withRest(shown: readonly Explanation[], total: number): Explanation {
  const joined = joinExplanations(shown, ', ')
  return total <= MAX_LISTED ? joined : explain`${joined} and ${total - MAX_LISTED} more`
}

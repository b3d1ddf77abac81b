import type { AgentRun, ToolCall } from '../model/agent-run.ts'
import { hasSucceeded } from '../model/call-status.ts'

/** What a run without a text did in place of an answer. */
export interface CallEnding {
  readonly call: ToolCall
  /** Whether the call handed the user over to a person. Otherwise it is the last one, and it succeeded. */
  readonly isHandOver: boolean
}

/**
 * What a run did in place of an answer: some runs end in a call because that is what was wanted.
 *
 * @param handOver names of tools that hand the user over to a person
 */
export function callEndingOf(
  { toolCalls }: Pick<AgentRun, 'toolCalls'>,
  handOver: readonly string[] = [],
): CallEnding | undefined {
  const handedOver = toolCalls.findLast((call) => handOver.includes(call.name) && hasSucceeded(call))
  if (handedOver !== undefined) return { call: handedOver, isHandOver: true }
  const last = toolCalls.at(-1)
  return last !== undefined && hasSucceeded(last) ? { call: last, isHandOver: false } : undefined
}

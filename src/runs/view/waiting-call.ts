import type { AgentRun, ToolCall } from '../../model/agent-run.ts'
import { CALL_STATUS } from '../../model/call-status.ts'

/** A call that waits for a person or a client's tool; in a run made from messages, one of the last step that was not executed. */
export function waitingCallOf(run: Pick<AgentRun, 'steps' | 'toolCalls'>): ToolCall | undefined {
  const waiting = run.toolCalls.find(({ status }) => CALL_STATUS[status].waits)
  if (waiting !== undefined) return waiting
  const asked = new Set(run.steps.at(-1)?.toolCallIds)
  if (asked.size === 0) return undefined
  // The status takes longer to read than the id.
  return run.toolCalls.find((call) => call.id !== undefined && asked.has(call.id) && CALL_STATUS[call.status].isRefused)
}

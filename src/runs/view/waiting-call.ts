import type { AgentRun, ToolCall } from '../../model/agent-run.ts'

/** A call of the last step that was not executed here: the run waits for a client's tool or an approval, and has no answer yet. */
export function waitingCallOf(run: Pick<AgentRun, 'steps' | 'toolCalls'>): ToolCall | undefined {
  const asked = new Set(run.steps.at(-1)?.toolCallIds)
  if (asked.size === 0) return undefined
  // The status takes longer to read than the id.
  return run.toolCalls.find((call) => call.id !== undefined && asked.has(call.id) && call.status === 'not-executed')
}

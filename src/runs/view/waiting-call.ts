import type { AgentRun, ToolCall } from '../../model/agent-run.ts'

/** A call of the last step that was not executed here: the run waits for a client's tool or an approval, and has no answer yet. */
export function waitingCallOf(run: Pick<AgentRun, 'steps' | 'toolCalls'>): ToolCall | undefined {
  const asked = run.steps.at(-1)?.toolCallIds ?? []
  return run.toolCalls.find(({ id, status }) => status === 'not-executed' && id !== undefined && asked.includes(id))
}

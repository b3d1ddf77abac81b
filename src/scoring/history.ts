import type { AgentRun } from '../model/agent-run.ts'
import type { Message } from '../model/message.ts'

/** The messages before the last one of the user, as far as they are known. */
export function historyOf({ input, steps }: Pick<AgentRun, 'input' | 'steps'>): readonly Message[] {
  const before = beforeLastUser(input)
  if (before.length > 0) return before
  // Some libraries write the history into the requests of the model alone.
  return beforeLastUser(steps[0]?.input ?? []).filter(({ role }) => role !== 'system' && role !== 'developer')
}

function beforeLastUser(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex(({ role, text }) => role === 'user' && text !== undefined)
  return messages.slice(0, Math.max(0, last))
}

/**
 * Whether the history holds answers of an agent that may have called tools, and no call: many libraries pass on texts alone. Or whether turns
 * of a conversation are missing.
 */
export function lacksEarlierCalls(run: AgentRun): boolean {
  const { conversation } = run
  if (conversation !== undefined) return conversation.earlier.length > 0 || conversation.missing.length > 0
  if (run.availableTools?.length === 0) return false
  const history = historyOf(run)
  return (
    history.some(({ role }) => role === 'assistant') &&
    !history.some(({ parts }) => parts.some(({ type }) => type === 'tool_call'))
  )
}

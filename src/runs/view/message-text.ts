import type { Message } from '../../model/message.ts'

/** Messages without system messages. */
export function withoutSystem(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  return messages?.some((message) => message.role === 'system')
    ? messages.filter((message) => message.role !== 'system')
    : messages
}

/** The text of the last user message. */
export function lastUserText(messages: readonly Message[] | undefined): string | undefined {
  return messages?.findLast((message) => message.role === 'user' && message.text !== undefined)?.text
}

/** The text of the assistant's messages, also of one that combines text, calls and responses. */
export function assistantText(messages: readonly Message[] | undefined): string | undefined {
  let all = ''
  for (const { role, text } of messages ?? []) if (role === 'assistant' && text !== undefined) all += text
  return all === '' ? undefined : all
}

/** `''` if the assistant's last message is recorded and empty. */
export function emptyText(messages: readonly Message[] | undefined): '' | undefined {
  const last = messages?.findLast(({ role }) => role === 'assistant')
  return last?.text === '' && !hasCall(last) ? '' : undefined
}

/** The text after the tool calls: the provider ran the tools, or they carried a structured answer. */
export function textAfterCalls(messages: readonly Message[]): string | undefined {
  return assistantText(messages.slice(messages.findLastIndex(hasCall) + 1))
}

function hasCall(message: Message): boolean {
  return message.parts.some((part) => part.type === 'tool_call')
}

/**
 * Whether a message is a program's state, as JSON or as printed by Python, that contains the question: some libraries record all parameters
 * of the function that ran the agent.
 *
 * @param question the question to the first model
 */
export function isAround(messages: readonly Message[] | undefined, question: () => string | undefined): boolean {
  const text = messages?.length === 1 ? messages[0]?.text : undefined
  if (text === undefined || !/^\s{0,8}(?:[{[]|\w{1,80}\()/.test(text)) return false
  const asked = question()
  if (asked === undefined || asked === '' || asked.length >= text.length) return false
  return text.includes(asked) || text.includes(JSON.stringify(asked).slice(1, -1))
}

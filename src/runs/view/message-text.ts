import type { Message } from '../../model/message.ts'

/** Messages without the system's. */
export function withoutSystem(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  return messages?.some((message) => message.role === 'system')
    ? messages.filter((message) => message.role !== 'system')
    : messages
}

/** Text of the last message of a user. */
export function lastUserText(messages: readonly Message[] | undefined): string | undefined {
  return messages?.findLast((message) => message.role === 'user' && message.text !== undefined)?.text
}

/** Text of the assistant's messages; of one that lumps text, calls and responses, the text. */
export function assistantText(messages: readonly Message[] | undefined): string | undefined {
  let all = ''
  for (const { role, text } of messages ?? []) if (role === 'assistant' && text !== undefined) all += text
  return all === '' ? undefined : all
}

/** `''` where the last that the assistant said is recorded, and is empty. */
export function emptyText(messages: readonly Message[] | undefined): '' | undefined {
  const last = messages?.findLast(({ role }) => role === 'assistant')
  return last?.text === '' && !hasCall(last) ? '' : undefined
}

/** What was said after the tool calls: the provider ran them, or they were the form of the answer. */
export function textAfterCalls(messages: readonly Message[]): string | undefined {
  return assistantText(messages.slice(messages.findLastIndex(hasCall) + 1))
}

function hasCall(message: Message): boolean {
  return message.parts.some((part) => part.type === 'tool_call')
}

/**
 * True where a message is the state of a program, as JSON or as Python prints objects, that holds the question in it: some
 * libraries record all parameters of the function that ran the agent.
 *
 * @param question What the first model was asked.
 */
export function isAround(messages: readonly Message[] | undefined, question: () => string | undefined): boolean {
  const text = messages?.length === 1 ? messages[0]?.text : undefined
  if (text === undefined || !/^\s{0,8}(?:[{[]|\w{1,80}\()/.test(text)) return false
  const asked = question()
  if (asked === undefined || asked === '' || asked.length >= text.length) return false
  return text.includes(asked) || text.includes(JSON.stringify(asked).slice(1, -1))
}

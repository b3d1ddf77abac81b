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

import { textOf } from '../../spans/json.ts'
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

/**
 * The text of an answer with tool calls: what follows the last call or its result. If the provider ran all of them, a text before them is
 * the answer, too; otherwise the model waits for their results.
 */
export function textBesideCalls(messages: readonly Message[]): string | undefined {
  let after = ''
  let asksClient = false
  for (const { role, parts } of messages) {
    for (const part of parts) {
      if (part.type === 'tool_call' || part.type === 'tool_call_response') after = ''
      else if (part.type === 'text' && role === 'assistant') after += part.content
      if (part.type === 'tool_call' && part.providerExecuted !== true) asksClient = true
    }
  }
  return after === '' && !asksClient ? assistantText(messages) : textOf(after)
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

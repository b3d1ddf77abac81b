import type { Message } from '../../model/message.ts'
import { makeMessage, textMessage, toRole } from './messages.ts'
import { toToolResponse } from './parts.ts'

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

/** The length of the longest role, to skip look-ups of longer prefixes. */
const MAX_LENGTH = 'developer'.length

/**
 * Parses a conversation written as one text, `system: …\nuser: …`. `undefined` if the text does not start with a role. A line within a
 * message that itself starts with a role cannot be distinguished from the next message.
 */
export function fromRolePrefixes(text: string): readonly Message[] | undefined {
  if (roleAt(text, 0) === undefined) return undefined
  const messages: Message[] = []
  let role = ''
  let start = 0
  for (let line = 0; line !== -1; line = nextLine(text, line)) {
    const next = roleAt(text, line)
    if (next === undefined) continue
    if (line > 0) add(messages, role, text.slice(start, line - 1))
    role = next
    start = line + next.length + 1
  }
  add(messages, role, text.slice(start))
  return messages.length === 0 ? undefined : messages
}

function nextLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? -1 : end + 1
}

/** The role at the start of a line, if any. */
function roleAt(text: string, line: number): string | undefined {
  const head = text.slice(line, line + MAX_LENGTH + 1)
  const colon = head.indexOf(':')
  const role = colon === -1 ? '' : head.slice(0, colon)
  const after = text[line + colon + 1]
  const isEnded = after === undefined || after === ' ' || after === '\n'
  return ROLES.has(role) && isEnded ? role : undefined
}

/** Python writes `None` for an answer without text, which calls tools. An empty message at the end requests the answer. */
function add(messages: Message[], role: string, written: string): void {
  const text = written.startsWith(' ') ? written.slice(1) : written
  if (role === 'tool') messages.push(makeMessage(role, [toToolResponse(undefined, text)]))
  else if (role === 'assistant' && text === 'None') messages.push(makeMessage(role, []))
  else if (text !== '' && text !== 'None') messages.push(textMessage(toRole(role), text))
}

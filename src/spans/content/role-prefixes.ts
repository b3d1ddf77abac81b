import type { Message } from '../../model/message.ts'
import { textMessage, toRole } from './messages.ts'

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

/** The longest of the roles: what is longer need not be looked up. */
const MAX_LENGTH = 'developer'.length

/**
 * The messages of a conversation that was written as one text, `system: …\nuser: …`. `undefined` if the text does not begin with
 * a role. A line within a message that itself begins with a role cannot be distinguished from the next message.
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

/** The role with which a line begins, where one does. */
function roleAt(text: string, line: number): string | undefined {
  const head = text.slice(line, line + MAX_LENGTH + 1)
  const colon = head.indexOf(':')
  const role = colon === -1 ? '' : head.slice(0, colon)
  const after = text[line + colon + 1]
  const isEnded = after === undefined || after === ' ' || after === '\n'
  return ROLES.has(role) && isEnded ? role : undefined
}

/** `None` is what Python writes of an answer without words; an empty one at the end asks for the answer. */
function add(messages: Message[], role: string, written: string): void {
  const text = written.startsWith(' ') ? written.slice(1) : written
  if (text !== '' && text !== 'None') messages.push(textMessage(toRole(role), text))
}

import { isRecord } from '../json.ts'

/** What Google's Agent Development Kit adds to instructions and results, in the spans of every instrumentation. */

const IDENTITY = 'You are an agent. Your internal name is "'
const DESCRIPTION = 'The description about you is "'
const TRANSFERS = 'You have a list of other agents to transfer to:'

/**
 * Instructions without the text that the library adds: the agent's identity at the start (in Python at the end), and the possible transfer
 * targets at the end.
 */
export function withoutIdentity(text: string): string {
  const transfers = text.indexOf(TRANSFERS)
  const own = transfers === -1 ? text : text.slice(0, transfers).trimEnd()
  const start = own.indexOf(IDENTITY)
  const nameEnd = start === -1 ? -1 : own.indexOf('".', start + IDENTITY.length)
  if (nameEnd === -1) return own
  const before = own.slice(0, start).trimEnd()
  const after = withoutDescription(own.slice(nameEnd + 2).trimStart())
  return before !== '' && after !== '' ? `${before}\n\n${after}` : before + after
}

function withoutDescription(text: string): string {
  if (!text.startsWith(DESCRIPTION)) return text
  const end = text.indexOf('"', DESCRIPTION.length)
  if (end === -1) return text
  return text.slice(text[end + 1] === '.' ? end + 2 : end + 1).trimStart()
}

/** A result that is not an object is wrapped: a list in `{ results }`, anything else in `{ result }`. */
export function unwrapResult(value: unknown): unknown {
  if (!isRecord(value) || Object.keys(value).length !== 1) return value
  if (Array.isArray(value.results)) return value.results
  return 'result' in value && (typeof value.result !== 'object' || value.result === null) ? value.result : value
}

/** The result of a tool that did not run, because nobody has confirmed the call yet. */
const CONFIRMATION = 'This tool call requires confirmation, please approve or reject.'
/** The result of a tool that did not run, because somebody refused the call. */
const REJECTION = 'This tool call is rejected.'

/** Why a tool did not run, by its result or the `FunctionResponse` with it. */
export function refusalIn(result: unknown): 'not confirmed' | 'rejected' | undefined {
  const inner = isRecord(result) && isRecord(result.response) ? result.response : result
  if (!isRecord(inner)) return undefined
  return inner.error === CONFIRMATION ? 'not confirmed' : inner.error === REJECTION ? 'rejected' : undefined
}

import { isRecord, parseJsonTwice, textOf } from '../spans/json.ts'
import type { Message, Part } from '../spans/message.ts'
import { makeMessage, toRole } from '../spans/messages.ts'
import { toPart } from '../spans/parts.ts'
import { callId, GivenCalls, isErrorResponse, responseId, responseOf } from './given-calls.ts'
import type { Place } from './given-calls.ts'
import { show } from './show.ts'

/**
 * Reads messages in any form that people write in tests or get from a library: text, `{ role, text }`, `{ role, content }`
 * with text or parts, `{ content: { parts, content, toolInvocations } }`, UI messages, OpenAI's `tool_calls`, Anthropic's
 * blocks.
 *
 * @throws TypeError where an entry is no message
 */
export function readMessages(
  given: readonly unknown[],
  role: 'user' | 'assistant' | 'system',
  calls: GivenCalls,
): Message[] {
  let step = -1
  return given.map((value, messageIndex) => {
    if (typeof value === 'string') {
      if (role === 'assistant') step++
      return makeMessage(role, [{ type: 'text', content: value }])
    }
    if (!isRecord(value) || !MESSAGE_KEYS.some((key) => key in value)) {
      throw new TypeError(`Expected a message { role, content }, got ${show(value)}.`)
    }
    const itsRole = toRole(textOf(value.role) ?? role)
    if (itsRole === 'assistant') step++
    return readMessage(value, itsRole, calls, { messageIndex, step: Math.max(step, 0), invocations: 0 })
  })
}

const MESSAGE_KEYS: readonly string[] = [
  'role',
  'content',
  'parts',
  'text',
  'toolInvocations',
  'tool_calls',
  'toolCalls',
]

/** Parts that stand in one list, such as the content of an AI SDK step. */
export function readParts(given: readonly unknown[], calls: GivenCalls, place: Place): Part[] {
  return given.flatMap((part) => readPart(part, calls, place))
}

function readMessage(value: Record<string, unknown>, role: string, calls: GivenCalls, place: Place): Message {
  // Mastra's form keeps parts, text and invocations in `content`; UI messages keep them in the message itself.
  const body = isRecord(value.content) ? value.content : value
  const { content } = body
  const id = responseId(value)
  if (role === 'tool' && !Array.isArray(content) && id !== undefined) {
    calls.answer({ ...value, tool_call_id: id }, place)
    return makeMessage(role, [toResponsePart({ ...value, tool_call_id: id })])
  }
  const list = Array.isArray(body.parts) ? body.parts : Array.isArray(content) ? content : []
  const parts = readParts(list, calls, place)
  if (!parts.some(({ type }) => type === 'text')) {
    const text = [body.text, content, value.text].find((item) => typeof item === 'string')
    if (typeof text === 'string') parts.unshift({ type: 'text', content: text })
  }
  for (const key of ['toolInvocations', 'tool_calls', 'toolCalls']) {
    const invocations = body[key] ?? value[key]
    if (!Array.isArray(invocations)) continue
    for (const invocation of invocations) {
      if (!isRecord(invocation)) throw new TypeError(`Expected a tool call in ${key}, got ${show(invocation)}.`)
      parts.push(...readCall(unwrapped(invocation), calls, place, parts))
    }
  }
  return makeMessage(role, parts, textOf(value.name))
}

function readPart(given: unknown, calls: GivenCalls, place: Place): Part[] {
  if (!isRecord(given)) return [toPart(given)]
  const part = unwrapped(given)
  const { type } = part
  if (type === 'tool-result' || type === 'tool-error' || type === 'tool_result' || type === 'tool_call_response') {
    calls.answer(part, place)
    return [toResponsePart(part)]
  }
  const isCall =
    type === 'tool-invocation' ||
    type === 'dynamic-tool' ||
    type === 'tool_use' ||
    type === 'tool_call' ||
    type === 'function_call' ||
    (typeof type === 'string' && type.startsWith('tool-') && type !== 'tool-approval-request')
  return isCall ? readCall(part, calls, place, []) : [toPart(part)]
}

/** A call, and its outcome where the same object holds it. `known` are the parts of the message so far. */
function readCall(source: Record<string, unknown>, calls: GivenCalls, place: Place, known: readonly Part[]): Part[] {
  calls.add(source, place)
  const id = callId(source)
  if (id !== undefined && known.some((part) => part.type === 'tool_call' && part.id === id)) return []
  const callee = isRecord(source.function) ? source.function : source
  const name = textOf(callee.toolName) ?? textOf(callee.name) ?? String(source.type).replace(/^tool-/, '')
  const args = callee.args ?? callee.input ?? callee.arguments
  const call: Part = {
    type: 'tool_call',
    ...(id !== undefined && { id }),
    name,
    ...(args !== undefined && { arguments: parseJsonTwice(args) }),
  }
  const isAnswered = responseOf(source) !== undefined || isErrorResponse(source)
  return isAnswered ? [call, toResponsePart(source)] : [call]
}

function toResponsePart(source: Record<string, unknown>): Part {
  const id = responseId(source)
  const response = responseOf(source) ?? source.errorText ?? source.error
  return {
    type: 'tool_call_response',
    ...(id !== undefined && { id }),
    ...(response !== undefined && { response: parseJsonTwice(response) }),
    ...(isErrorResponse(source) && { isError: true }),
  }
}

/** `{ type: 'tool-invocation', toolInvocation }` of UI messages, `{ type, payload }` of Mastra's results. */
function unwrapped(part: Record<string, unknown>): Record<string, unknown> {
  if (isRecord(part.toolInvocation)) return { type: part.type, ...part.toolInvocation }
  if (isRecord(part.payload)) return { type: part.type, ...part.payload }
  return part
}

import { isRecord, parseJsonTwice, textOf } from '../../spans/json.ts'
import type { Message, Part } from '../../model/message.ts'
import { makeMessage, ROLES, toRole } from '../../spans/content/messages.ts'
import { PART_TYPES, toMessageParts } from '../../spans/content/parts.ts'
import { closestName } from '../closest-name.ts'
import { refuseUnknown } from '../refuse-unknown.ts'
import { callId, isErrorResponse, responseId, responseOf, toolNameOf } from './calls.ts'
import type { GivenCalls, Place } from './calls.ts'
import { formatValue } from '../format-value.ts'

type Source = Readonly<Record<string, unknown>>

/**
 * Reads messages in any form that people write in tests or get from a library: text, `{ role, text }`, `{ role, content }`
 * with text or parts, `{ content: { parts, content, toolInvocations } }`, UI messages, OpenAI's `tool_calls`, Anthropic's
 * blocks.
 *
 * @throws TypeError if an entry is no message
 */
export function readMessages(given: readonly unknown[], role: 'user' | 'assistant' | 'system'): Message[] {
  return given.map((value) => {
    if (typeof value === 'string') return makeMessage(role, [{ type: 'text', content: value }])
    const message = toSource(value)
    return readMessage(message, toRole(textOf(message.role) ?? role))
  })
}

/**
 * Reads only the tool calls of messages.
 *
 * @throws TypeError if an entry is no message
 */
export function readCalls(given: readonly unknown[], calls: GivenCalls): void {
  let step = -1
  for (let messageIndex = 0; messageIndex < given.length; messageIndex++) {
    const value = given[messageIndex]
    if (typeof value === 'string') {
      step++
      continue
    }
    const message = toSource(value)
    const role = toRole(textOf(message.role) ?? 'assistant')
    if (role === 'assistant') step++
    const place = { messageIndex, step: Math.max(step, 0), invocations: 0 }
    const body = isRecord(message.content) ? message.content : message
    const id = role === 'tool' && !Array.isArray(body.content) ? responseId(message) : undefined
    if (id === undefined) {
      readPartCalls(partsOf(body), calls, place)
      for (const key of INVOCATIONS) {
        const invocations = body[key] ?? message[key]
        if (!Array.isArray(invocations)) continue
        calls.expect(invocations.length)
        for (const invocation of invocations) calls.add(unwrapped(toCallSource(invocation, key)), place)
      }
    } else {
      calls.answer({ ...message, tool_call_id: id }, place)
    }
  }
}

/** Reads the tool calls among parts, such as the content of an AI SDK step. */
export function readPartCalls(given: readonly unknown[], calls: GivenCalls, place: Place): void {
  for (const value of given) {
    if (!isRecord(value) || value.type === 'text') continue
    const part = unwrapped(value)
    if (isResponse(part.type)) calls.answer(part, place)
    else if (isCall(part.type)) calls.add(part, place)
    else {
      for (const known of toMessageParts(part)) {
        if (known.type === 'tool_call') calls.add({ ...known }, place)
        else if (known.type === 'tool_call_response') calls.answer({ ...known }, place)
      }
    }
  }
}

/** Reads a list of parts, such as the content of an AI SDK step. */
export function readParts(given: readonly unknown[]): Part[] {
  return given.flatMap((value): readonly Part[] => {
    if (!isRecord(value)) return toMessageParts(value)
    const part = unwrapped(value)
    if (isResponse(part.type)) return [toResponsePart(part)]
    return isCall(part.type) ? toCallParts(part) : toMessageParts(part)
  })
}

const INVOCATIONS = ['toolInvocations', 'tool_calls', 'toolCalls'] as const
const ITEM_ROLES: ReadonlyMap<unknown, string> = new Map([
  ['function_call', 'assistant'],
  ['reasoning', 'assistant'],
  ['function_call_output', 'tool'],
])
const MESSAGE_KEYS: readonly string[] = ['role', 'content', 'parts', 'text', ...INVOCATIONS]

function readMessage(value: Source, role: string): Message {
  // Mastra's form keeps parts, text and invocations in `content`; UI messages keep them in the message itself.
  const body = isRecord(value.content) ? value.content : value
  const id = responseId(value)
  if (role === 'tool' && !Array.isArray(body.content) && id !== undefined) {
    return makeMessage(role, [toResponsePart({ ...value, tool_call_id: id })])
  }
  const parts = readParts(partsOf(body))
  if (!parts.some(({ type }) => type === 'text')) {
    const text = [body.text, body.content, value.text].find((item) => typeof item === 'string')
    if (typeof text === 'string') parts.unshift({ type: 'text', content: text })
  }
  for (const key of INVOCATIONS) {
    const invocations = body[key] ?? value[key]
    if (!Array.isArray(invocations)) continue
    for (const invocation of invocations) {
      const call = unwrapped(toCallSource(invocation, key))
      const callsId = callId(call)
      // The same call may be among the parts as well.
      if (callsId === undefined || !parts.some((part) => part.type === 'tool_call' && part.id === callsId))
        parts.push(...toCallParts(call))
    }
  }
  return makeMessage(role, parts, textOf(value.name))
}

/**
 * Returns the message. OpenAI's Responses API mixes items without a role into the messages: such an item becomes a message with
 * one part.
 *
 * @throws TypeError if the value is not a message
 */
export function toSource(value: unknown): Source {
  if (isRecord(value)) {
    const role = value.role === undefined ? ITEM_ROLES.get(value.type) : undefined
    if (role !== undefined) return { role, content: [value] }
    if ('role' in value || MESSAGE_KEYS.some((key) => key in value)) return value
  }
  throw new TypeError(`Expected a message { role, content }, got ${formatValue(value)}.`)
}

/**
 * Refuses what was misspelt in a message: it would be read as nothing. Other fields and parts are a library's own.
 *
 * @throws TypeError if the value is not a message, or misspells its content, its role, or the type or content of a part
 */
export function checkMessage(value: unknown): void {
  if (typeof value === 'string') return
  const message = toSource(value)
  const role = toRole(textOf(message.role) ?? 'user')
  if (!Object.hasOwn(ROLES, role) && closestName(role, Object.keys(ROLES)) !== undefined)
    refuseUnknown('A message', role, ROLES, 'role')
  const hasContent = MESSAGE_KEYS.some((key) => key !== 'role' && key in message)
  if (!hasContent && responseId(message) === undefined) {
    throw new TypeError(`Expected a message with content, parts or text, got ${formatValue(value)}.`)
  }
  for (const part of partsOf(isRecord(message.content) ? message.content : message)) if (isRecord(part)) checkPart(part)
}

/**
 * Refuses an answer of an unknown role: scorers would read no answer. Other messages may have roles of a library's own.
 *
 * @throws TypeError if the last message with text has a role that scorers do not know
 */
export function checkAnswerRole(given: readonly unknown[]): void {
  if (!given.some(isOfUnknownRole)) return
  const role = readMessages(given, 'assistant').findLast(({ text = '' }) => text.trim() !== '')?.role
  if (role !== undefined && !Object.hasOwn(ROLES, role)) refuseUnknown('A message', role, ROLES, 'role')
}

function isOfUnknownRole(value: unknown): boolean {
  return isRecord(value) && typeof value.role === 'string' && !Object.hasOwn(ROLES, toRole(value.role))
}

function checkPart(given: Source): void {
  const part = unwrapped(given)
  const { type } = part
  if (typeof type !== 'string' || isResponse(type)) return
  const isRead = isCall(type)
    ? toolNameOf(part) !== undefined
    : toMessageParts(part).some((each) => each.type !== 'unknown')
  if (isRead) return
  if (PART_TYPES.has(type) || isCall(type))
    throw new TypeError(
      `Expected a part with ${isCall(type) ? 'toolName or name' : 'text'}, got ${formatValue(given)}.`,
    )
  if (closestName(type, PART_TYPES.keys()) !== undefined)
    refuseUnknown('A part of a message', type, Object.fromEntries(PART_TYPES), 'type')
}

function toCallSource(invocation: unknown, key: string): Record<string, unknown> {
  if (isRecord(invocation)) return invocation
  throw new TypeError(`Expected a tool call in ${key}, got ${formatValue(invocation)}.`)
}

function partsOf(body: Source): readonly unknown[] {
  return Array.isArray(body.parts) ? body.parts : Array.isArray(body.content) ? body.content : []
}

function isResponse(type: unknown): boolean {
  return (
    type === 'tool-result' ||
    type === 'tool-error' ||
    type === 'tool_result' ||
    type === 'tool_call_response' ||
    type === 'function_call_output' ||
    // Anthropic's own tools: `web_search_tool_result`.
    (typeof type === 'string' && type.endsWith('_tool_result'))
  )
}

/** Whether a part of that type is a tool call or the result of one. */
export function isCall(type: unknown): boolean {
  return (
    type === 'tool-invocation' ||
    type === 'dynamic-tool' ||
    type === 'tool_use' ||
    type === 'server_tool_use' ||
    type === 'mcp_tool_use' ||
    type === 'tool_call' ||
    type === 'function_call' ||
    (typeof type === 'string' && type.startsWith('tool-') && type !== 'tool-approval-request')
  )
}

/** The part of a call, and the part of its result if the same object holds it. */
function toCallParts(source: Record<string, unknown>): Part[] {
  const id = callId(source)
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

import { onceForText } from './repeated-text.ts'
import { isCutJson, isRecord, parseJson, textOf, toJsonText } from '../json.ts'
import type { Message, Part, ToolCallPart } from '../../model/message.ts'
import { toMessageParts, toToolCallPart, toToolResponse } from './parts.ts'
import { toServerToolParts } from './server-tools.ts'

/**
 * Converts messages of any library's format: the GenAI conventions' `parts`, OpenAI chat (`content`, `tool_calls`, `tool_call_id`) and
 * Responses items (`function_call`, `function_call_output`), Anthropic blocks, Bedrock blocks, Gemini and ADK contents, AI SDK model
 * messages, LangChain messages (plain and serialised), Genkit.
 *
 * Accepts JSON text or the parsed value; returns `undefined` if it contains no message.
 */
export function toMessages(value: unknown): readonly Message[] | undefined {
  const parsed = parseJson(value)
  const list = Array.isArray(parsed)
    ? parsed
    : isRecord(parsed) && Array.isArray(parsed.messages)
      ? parsed.messages
      : [parsed]
  const messages: Message[] = []
  for (const item of list) {
    // LangChain wraps a batch in a list: [[message, …]].
    if (Array.isArray(item) && !isPair(item)) messages.push(...item.flatMap((inner) => toMessage(inner) ?? []))
    else {
      // Mistral's client writes a list of JSON texts.
      const message = toMessage(typeof item === 'string' ? parseJson(item) : item)
      if (message !== undefined) messages.push(message)
    }
  }
  return messages.length === 0 ? undefined : messages
}

/** Converts one message of any format that `toMessages` supports; `undefined` if the value is not a message. */
export function toMessage(value: unknown): Message | undefined {
  if (isPair(value)) return makeMessage(toRole(value[0]), [{ type: 'text', content: value[1] }])
  if (!isRecord(value)) return undefined
  const plain = fromLangChain(value)
  if (plain !== undefined) return toMessage(plain)
  // Items of the Responses API have no role.
  if (value.type === 'function_call_output' || value.type === 'function_call_result') {
    return makeMessage('tool', toMessageParts(value))
  }
  if (value.type === 'function_call' || value.type === 'reasoning')
    return makeMessage('assistant', toMessageParts(value))
  if (typeof value.role !== 'string') return fromServerTool(value)
  // LangChain's handlers put the tool's name in place of the role.
  const role = typeof value.tool_call_id === 'string' ? 'tool' : toRole(value.role)
  const parts = isList(value.parts) ? answerParts(value, role, value.parts) : contentParts(value, role)
  for (const call of toolCallsOf(value)) parts.push(call)
  return makeMessage(role, parts, textOf(value.name))
}

/** An item of the Responses API for a tool that the provider or the client runs. */
function fromServerTool(value: Record<string, unknown>): Message | undefined {
  const parts = typeof value.type === 'string' ? toServerToolParts(value) : undefined
  if (parts === undefined) return undefined
  const isAnswer = parts.every(({ type }) => type === 'tool_call_response')
  return makeMessage(isAnswer ? 'tool' : 'assistant', parts)
}

/** Creates a message; its `text` is the concatenated text parts. */
export function makeMessage(role: string, parts: readonly Part[], name?: string): Message {
  let text: string | undefined
  for (const part of parts) if (part.type === 'text') text = (text ?? '') + part.content
  if (text === undefined) return name === undefined ? { role, parts } : { role, name, parts }
  return name === undefined ? { role, text, parts } : { role, name, text, parts }
}

/** Creates a message with one text. */
export function textMessage(role: string, text: string): Message {
  return { role, text, parts: [{ type: 'text', content: text }] }
}

/**
 * Maps `model`, `ai` and `chatbot` to `assistant`, `human` to `user`, `developer` to `system`, and `function` to `tool`, in any case
 * (`User`, `ASSISTANT`). Other roles stay as they are.
 */
export function toRole(role: string): string {
  const name = role.toLowerCase()
  switch (name) {
    case 'model':
    case 'ai':
    case 'chatbot':
    case 'aimessagechunk':
      return 'assistant'
    case 'human':
      return 'user'
    case 'developer':
      return 'system'
    case 'function':
      return 'tool'
    default:
      return Object.hasOwn(ROLES, name) ? name : role
  }
}

/** The roles that scorers know. */
export const ROLES = { system: true, user: true, assistant: true, tool: true } as const

/** The tool calls in messages, in order. */
export function toolCallsIn(messages: readonly Message[] | undefined): readonly ToolCallPart[] {
  const calls: ToolCallPart[] = []
  for (const message of messages ?? [])
    for (const part of message.parts) if (part.type === 'tool_call') calls.push(part)
  return calls
}

/** The text of the system messages, joined by line breaks; `undefined` if there are none. */
export function systemTextOf(messages: readonly Message[] | undefined): string | undefined {
  const texts = (messages ?? []).filter((message) => message.role === 'system').map((message) => message.text ?? '')
  return textOf(texts.join('\n'))
}

/**
 * Reads system instructions of any library's format: plain text, JSON text of a string, `[{ type, content }]`, or one such part.
 */
export const toInstructions: (value: unknown) => string | undefined = onceForText((value) => {
  const parsed = typeof value === 'string' && !/^\s*[[{"]/.test(value) ? value : parseJson(value)
  // JSON that was cut off is not an instruction.
  if (typeof parsed === 'string') return isCutJson(parsed) ? undefined : textOf(parsed)
  const items = Array.isArray(parsed) ? parsed : [parsed]
  const texts: string[] = []
  for (const item of items) {
    if (typeof item === 'string') texts.push(item)
    else if (isRecord(item)) {
      const text = item.content ?? item.text ?? toMessage(item)?.text
      if (typeof text === 'string') texts.push(text)
      else if (Array.isArray(text)) texts.push(toInstructions(text) ?? '')
    }
  }
  if (texts.length === 0) return typeof value === 'string' ? textOf(value) : undefined
  return textOf(texts.join('\n'))
})

/** LangChain's `["human", "text"]`. */
function isPair(value: unknown): value is [string, string] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    typeof value[1] === 'string' &&
    typeof value[0] === 'string' &&
    /^(system|user|human|ai|assistant)$/.test(value[0])
  )
}

const LANGCHAIN_ROLES: ReadonlyMap<string, string> = new Map([
  ['AIMessage', 'assistant'],
  ['AIMessageChunk', 'assistant'],
  ['HumanMessage', 'user'],
  ['HumanMessageChunk', 'user'],
  ['SystemMessage', 'system'],
  ['ToolMessage', 'tool'],
  ['FunctionMessage', 'tool'],
])

/** Converts `{ lc: 1, id: […, 'AIMessage'], kwargs }`, `{ type: 'ai', data }` and `{ type: 'human', content }` to messages with a role. */
function fromLangChain(value: Record<string, unknown>): Record<string, unknown> | undefined {
  if (value.lc === 1 && Array.isArray(value.id) && isRecord(value.kwargs)) {
    const className = String(value.id.at(-1))
    const role = LANGCHAIN_ROLES.get(className) ?? textOf(value.kwargs.role)
    return role === undefined ? undefined : { ...value.kwargs, role }
  }
  if (typeof value.role === 'string' || typeof value.type !== 'string') return undefined
  if (!/^(human|ai|system|tool|AIMessageChunk)$/.test(value.type)) return undefined
  const { type, ...rest } = isRecord(value.data) ? { ...value.data, type: value.type } : value
  return { ...rest, role: toRole(String(type)) }
}

/** LiteLLM writes the result of a tool as a text, with the call's id beside the parts. */
function answerParts(value: Record<string, unknown>, role: string, list: readonly unknown[]): Part[] {
  const parts = list.flatMap(toMessageParts)
  const callId = textOf(value.tool_call_id)
  if (role !== 'tool' || callId === undefined || !parts.every(({ type }) => type === 'text')) return parts
  const text = makeMessage(role, parts).text ?? ''
  return [toToolResponse(callId, text, value.status === 'error' || value.is_error === true)]
}

function contentParts(value: Record<string, unknown>, role: string): Part[] {
  // An attribute of a span may be a list that only claims to have billions of items.
  // Dify writes `{ role, text }`.
  const written = value.content ?? value.text
  const content = Array.isArray(written) && !isList(written) ? undefined : written
  const callId =
    textOf(value.tool_call_id) ?? textOf(value.toolCallId) ?? (role === 'tool' ? textOf(value.id) : undefined)
  if (role === 'tool' && !hasResponsePart(content)) {
    const isError = value.status === 'error' || [value.is_error, value.isError, value.tool_call_error].includes(true)
    return [toToolResponse(callId, content, isError)]
  }
  // Some libraries write content parts as JSON text.
  const parsed =
    typeof content === 'string' && /^\s*\[\s*\{\s*"(type|text)"/.test(content) ? parseJson(content) : content
  if (typeof parsed === 'string') return parsed === '' && hasToolCalls(value) ? [] : [{ type: 'text', content: parsed }]
  if (Array.isArray(parsed)) return parsed.flatMap(toMessageParts)
  if (isRecord(parsed)) return isList(parsed.parts) ? parsed.parts.flatMap(toMessageParts) : [...toMessageParts(parsed)]
  return []
}

/** More parts than a message has. */
const MAX_PARTS = 50_000

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length <= MAX_PARTS
}

function hasResponsePart(content: unknown): boolean {
  return Array.isArray(content) && content.flatMap(toMessageParts).some(({ type }) => type === 'tool_call_response')
}

function hasToolCalls(value: Record<string, unknown>): boolean {
  return Array.isArray(callListOf(value)) || isRecord(value.function_call)
}

/** LangChain's messages may only have calls in the arguments of the model provider's class. */
function callListOf(value: Record<string, unknown>): unknown {
  const further = isRecord(value.additional_kwargs) ? value.additional_kwargs.tool_calls : undefined
  return value.tool_calls ?? value.toolCalls ?? further
}

/** The calls beside the content. LangChain repeats them in content blocks, which are then ignored. */
function toolCallsOf(value: Record<string, unknown>): ToolCallPart[] {
  const list = parseJson(callListOf(value))
  const calls = Array.isArray(list) ? list.flatMap((call) => toToolCallPart(call) ?? []) : []
  if (calls.length === 0 && isRecord(value.function_call)) {
    const call = toToolCallPart({ ...value.function_call, id: undefined })
    if (call !== undefined) calls.push(call)
  }
  if (calls.length === 0 || !Array.isArray(value.content)) return calls
  const content = value.content.flatMap(toMessageParts)
  return calls.filter((call) => !content.some((part) => part.type === 'tool_call' && isSameCall(part, call)))
}

function isSameCall(left: ToolCallPart, right: ToolCallPart): boolean {
  if (left.name !== right.name) return false
  return left.id !== undefined || right.id !== undefined
    ? left.id === right.id
    : toJsonText(left.arguments) === toJsonText(right.arguments)
}

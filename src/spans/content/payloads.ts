import { isRecord, parseJson, textOf } from '../json.ts'
import type { Message, ToolDefinition } from '../../model/message.ts'
import { systemTextOf, textMessage, toInstructions, toMessage, toMessages } from './messages.ts'
import { withGrounding } from './gemini.ts'
import { toToolDefinitions } from './tool-definitions.ts'

/**
 * Whole requests and replies of model APIs, for instrumentations that record raw payloads: OpenAI chat completions and Responses, Anthropic
 * messages, Gemini contents, LangChain's callback payloads.
 */

/**
 * The messages of a request: a list of messages, or a request body with `messages`, `input`, `contents` or `prompt`. A separate system text
 * (`system`, `instructions`, `systemInstruction`) becomes the first message. `undefined` if the value is not such a payload.
 */
export function requestMessages(value: unknown): readonly Message[] | undefined {
  const parsed = parseJson(value)
  if (Array.isArray(parsed)) return toMessages(parsed)
  if (!isRecord(parsed)) return undefined
  const list = parsed.messages ?? parsed.contents ?? parsed.input ?? parsed.prompt
  const messages = typeof list === 'string' ? [textMessage('user', list)] : isList(list) ? toMessages(list) : undefined
  const instructions = requestInstructions(parsed)
  if (messages === undefined) return undefined
  return instructions === undefined || systemTextOf(messages) !== undefined
    ? messages
    : [textMessage('system', instructions), ...messages]
}

/** The system text of a request body, if it is separate from the messages. */
export function requestInstructions(value: unknown): string | undefined {
  const parsed = parseJson(value)
  if (!isRecord(parsed)) return undefined
  const config = isRecord(parsed.config) ? parsed.config : {}
  const written =
    parsed.system ??
    parsed.instructions ??
    parsed.systemInstruction ??
    config.systemInstruction ??
    config.system_instruction
  if (typeof written === 'string') return textOf(written)
  if (isRecord(written) && Array.isArray(written.parts)) return toInstructions(written.parts)
  return written === undefined || written === null ? undefined : toInstructions(written)
}

/** The tools of a request body (`tools`, Gemini's `config.tools`, or among the further arguments of a Python client). */
export function requestTools(value: unknown): readonly ToolDefinition[] | undefined {
  const parsed = parseJson(value)
  if (!isRecord(parsed)) return undefined
  const config = isRecord(parsed.config) ? parsed.config : {}
  const further = isRecord(parsed.kwargs) ? parsed.kwargs : {}
  const tools = parsed.tools ?? config.tools ?? further.tools
  return Array.isArray(tools) ? toToolDefinitions(tools) : undefined
}

/** Replies are in lists, or in lists of lists. Each level of a deeper one would be searched for the chunks of a stream. */
const MAX_LIST_DEPTH = 3

/**
 * The model's answer from a reply body: `choices[0].message`, Responses `output` items, an Anthropic message, Gemini `candidates` or
 * `content`, LangChain `generations`, a message, a list of any of these, or the chunks of a stream. `undefined` for anything else.
 */
export function replyMessages(value: unknown, depth = 0): readonly Message[] | undefined {
  const parsed = parseJson(value)
  if (Array.isArray(parsed)) {
    if (depth > MAX_LIST_DEPTH) return undefined
    const messages = parsed.flatMap((item) => replyMessages(item, depth + 1) ?? [])
    if (messages.length > 0) return messages
    const streamed = messageOfChunks(parsed)
    return streamed === undefined ? undefined : [streamed]
  }
  if (!isRecord(parsed)) return undefined
  if (Array.isArray(parsed.choices)) return fromFirst(parsed.choices, 'message')
  if (Array.isArray(parsed.candidates)) return fromFirst(parsed.candidates, 'content')
  if (Array.isArray(parsed.generations)) {
    const [first] = parsed.generations as readonly unknown[]
    return fromFirst(Array.isArray(first) ? first : [first], 'message')
  }
  if (Array.isArray(parsed.output)) return toMessages(parsed.output)
  const message = toMessage(parsed) ?? toMessage(parsed.message) ?? toMessage(parsed.content)
  if (message !== undefined) return [withGrounding(message, parsed)]
  // Reassembled streams have no role.
  return Array.isArray(parsed.tool_calls) || isRecord(parsed.function_call)
    ? toMessages([{ ...parsed, role: 'assistant' }])
    : undefined
}

function fromFirst(list: readonly unknown[], key: 'message' | 'content'): readonly Message[] | undefined {
  const [first] = list
  if (!isRecord(first)) return undefined
  const message = toMessage(first[key])
  if (message !== undefined) return [withGrounding(message, first)]
  return typeof first.text === 'string' ? [textMessage('assistant', first.text)] : undefined
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/**
 * Reassembles the message of an OpenAI chat completions stream from its chunks (`choices[0].delta`), as JSON text or values. `undefined` if
 * the list contains none.
 */
function messageOfChunks(list: readonly unknown[]): Message | undefined {
  let content = ''
  let isStream = false
  const calls = new Map<number, { id?: unknown; name: string; arguments: string }>()
  for (const item of list) {
    const delta = deltaOf(parseJson(item))
    if (delta === undefined) continue
    isStream = true
    if (typeof delta.content === 'string') content += delta.content
    if (Array.isArray(delta.tool_calls)) for (const part of delta.tool_calls) addCall(calls, part)
  }
  if (!isStream) return undefined
  const toolCalls = [...calls.values()].map(({ id, ...rest }) => ({ id, type: 'function', function: rest }))
  return toMessage({ role: 'assistant', content, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) })
}

function deltaOf(chunk: unknown): Record<string, unknown> | undefined {
  if (!isRecord(chunk) || !Array.isArray(chunk.choices)) return undefined
  const [choice] = chunk.choices as readonly unknown[]
  return isRecord(choice) && isRecord(choice.delta) ? choice.delta : undefined
}

/** The first chunk of a call has its id and name, and each further one a piece of its arguments. */
function addCall(calls: Map<number, { id?: unknown; name: string; arguments: string }>, part: unknown): void {
  if (!isRecord(part) || !isRecord(part.function)) return
  const index = typeof part.index === 'number' ? part.index : calls.size
  const call = calls.get(index) ?? { id: part.id, name: '', arguments: '' }
  calls.set(index, call)
  if (typeof part.function.name === 'string') call.name += part.function.name
  if (typeof part.function.arguments === 'string') call.arguments += part.function.arguments
}

import { isRecord, parseJson, parseJsonTwice, textOf } from '../json.ts'
import type { Part, ToolCallPart, ToolCallResponsePart } from '../../model/message.ts'
import { toServerToolParts } from './server-tools.ts'

/** Parts are built property by property: they are the most frequent objects, and conditional spreads cost several times as much. */
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/**
 * Converts one part of a message of any format that `toMessages` supports. A call that the provider ran may be written together with its
 * result. Unknown parts become `unknown`.
 */
export function toMessageParts(value: unknown): readonly Part[] {
  if (typeof value === 'string') return [{ type: 'text', content: value }]
  if (!isRecord(value)) return [{ type: 'unknown', value }]
  // The conventions' part for anything without a type of its own.
  if (value.type === 'generic' && typeof value.generic_type === 'string') {
    return toMessageParts({ ...value, type: value.generic_type, generic_type: undefined })
  }
  const type = typeof value.type === 'string' ? value.type : ''
  const part = PART_TYPES.get(type)?.(value)
  return part === undefined ? (toServerToolParts(value) ?? [toUntypedPart(value, type)]) : [part]
}

/**
 * Converts a tool call of any format: the conventions', OpenAI's, Anthropic's, Bedrock's, Gemini's, the AI SDK's, LangChain's, Genkit's.
 */
export function toToolCallPart(value: unknown): ToolCallPart | undefined {
  if (!isRecord(value)) return undefined
  const inner = [value.function, value.toolUse, value.function_call, value.functionCall, value.toolRequest].find(
    isRecord,
  )
  const source = inner ?? value
  const name = textOf(source.name) ?? textOf(source.toolName)
  if (name === undefined) return undefined
  const id =
    textOf(source.call_id) ??
    textOf(source.callId) ??
    textOf(source.toolCallId) ??
    textOf(source.tool_call_id) ??
    textOf(source.toolUseId) ??
    textOf(source.ref) ??
    textOf(source.id) ??
    textOf(value.id)
  const given = source.arguments ?? source.args ?? source.input ?? source.parameters
  const call: Mutable<ToolCallPart> = { type: 'tool_call', name }
  if (id !== undefined) call.id = id
  // Streams write an empty string for "no arguments".
  if (given !== undefined && given !== null) call.arguments = given === '' ? {} : parseJsonTwice(given)
  // The AI SDK's mark, Pydantic AI's, and that of Bedrock's tool blocks.
  if (value.providerExecuted === true || value.builtin === true || source.type === 'server_tool_use')
    call.providerExecuted = true
  return call
}

/** Creates a tool's response; removes envelopes of content blocks and of the AI SDK's `{ type, value }`. */
export function toToolResponse(id: string | undefined, response: unknown, isError = false): ToolCallResponsePart {
  const output = unwrapOutput(response)
  const part: Mutable<ToolCallResponsePart> = { type: 'tool_call_response' }
  if (id !== undefined) part.id = id
  if (output.value !== undefined) part.response = output.value
  if (isError || output.isError) part.isError = true
  return part
}

/**
 * The value in a list of content blocks (`{ type: 'text', text }`, `{ text }`, `{ json }`): that of the only block, or the joined texts,
 * parsed if they are JSON. Any other list is returned unchanged.
 */
export function unwrapBlocks(value: unknown): unknown {
  if (typeof value === 'string') return parseJson(value)
  if (!Array.isArray(value) || value.length === 0) return value
  const texts: string[] = []
  for (const block of value) {
    if (!isRecord(block)) return value
    if ('json' in block && value.length === 1) return unwrapValue(block.json)
    if (typeof block.text !== 'string' || !isTextBlock(block)) return value
    texts.push(block.text)
  }
  return parseJson(texts.join(''))
}

/** Strands writes an array result as `{ json: { $value: […] } }`. */
function unwrapValue(value: unknown): unknown {
  return isRecord(value) && '$value' in value && Object.keys(value).length === 1 ? value.$value : value
}

function isTextBlock(block: Record<string, unknown>): boolean {
  return (
    block.type === undefined || block.type === 'text' || block.type === 'output_text' || block.type === 'input_text'
  )
}

const AI_SDK_OUTPUTS: ReadonlySet<unknown> = new Set([
  'json',
  'text',
  'content',
  'error-text',
  'error-json',
  'execution-denied',
])

function unwrapOutput(response: unknown): { value: unknown; isError: boolean } {
  const parsed = parseJson(response)
  if (isRecord(parsed) && AI_SDK_OUTPUTS.has(parsed.type) && ('value' in parsed || 'reason' in parsed)) {
    const value = parsed.type === 'content' ? unwrapBlocks(parsed.value) : (parsed.value ?? parsed.reason)
    return { value, isError: parsed.type !== 'json' && parsed.type !== 'text' && parsed.type !== 'content' }
  }
  const block = isRecord(parsed) && parsed.type === 'text' && typeof parsed.text === 'string' ? [parsed] : parsed
  return { value: unwrapBlocks(block), isError: false }
}

type ToPart = (value: Record<string, unknown>) => Part | undefined

const toText: ToPart = (value) => {
  const content = value.content ?? value.text ?? value.refusal
  return typeof content === 'string' ? { type: 'text', content } : undefined
}

const toReasoning: ToPart = (value) => {
  const summary = Array.isArray(value.summary)
    ? value.summary.map((item) => (isRecord(item) ? (item.text ?? '') : item)).join('\n')
    : undefined
  const content = value.content ?? value.text ?? value.thinking ?? value.reasoning ?? summary
  return { type: 'reasoning', content: typeof content === 'string' ? content : '' }
}

const toCall: ToPart = (value) => toToolCallPart(value)

const toResponse: ToPart = (value) =>
  toToolResponse(
    textOf(value.tool_call_id) ??
      textOf(value.call_id) ??
      textOf(value.callId) ??
      textOf(value.toolCallId) ??
      textOf(value.tool_use_id) ??
      textOf(value.toolUseId) ??
      textOf(value.id),
    [value.response, value.result, value.output, value.content, value.error].find((item) => item !== undefined),
    value.is_error === true || value.isError === true || value.status === 'error' || value.type === 'tool-error',
  )

/** The types of parts, and how each is read. A map instead of an object, because a part's type may be `constructor`. */
export const PART_TYPES: ReadonlyMap<string, ToPart> = new Map(
  Object.entries<ToPart>({
    text: toText,
    input_text: toText,
    output_text: toText,
    refusal: toText,
    reasoning: toReasoning,
    thinking: toReasoning,
    tool_call: toCall,
    'tool-call': toCall,
    function: toCall,
    function_call: toCall,
    tool_use: toCall,
    toolUse: toCall,
    tool_call_response: toResponse,
    'tool-result': toResponse,
    'tool-error': toResponse,
    tool_result: toResponse,
    toolResult: toResponse,
    function_call_output: toResponse,
    // The OpenAI Agents SDK's own form.
    function_call_result: toResponse,
    blob: (value) => ({ type: 'blob', value }),
    image: (value) => ({ type: 'blob', value }),
    input_image: (value) => ({ type: 'blob', value }),
    image_url: (value) => ({ type: 'uri', value }),
    uri: (value) => ({ type: 'uri', value }),
    file: (value) => ({ type: 'file', value }),
    compaction: (value) => ({ type: 'compaction', value }),
  }),
)

/** Bedrock, Gemini and Genkit identify their parts only by a key. */
function toUntypedPart(value: Record<string, unknown>, type: string): Part {
  if (
    isRecord(value.toolUse) ||
    isRecord(value.function_call) ||
    isRecord(value.functionCall) ||
    isRecord(value.toolRequest)
  ) {
    const call = toToolCallPart(value)
    if (call !== undefined) return call
  }
  if (isRecord(value.toolResult)) return toResponse(value.toolResult) ?? { type: 'unknown', value }
  const response = [value.function_response, value.functionResponse, value.toolResponse].find(isRecord)
  if (response !== undefined) {
    return toToolResponse(textOf(response.id) ?? textOf(response.ref), response.response ?? response.output)
  }
  if (typeof value.reasoning === 'string') return { type: 'reasoning', content: value.reasoning }
  if (typeof value.text === 'string' && (type === '' || type === 'message')) {
    return value.thought === true ? { type: 'reasoning', content: value.text } : { type: 'text', content: value.text }
  }
  if (isRecord(value.media) || isRecord(value.inline_data) || isRecord(value.inlineData)) return { type: 'blob', value }
  return { type: 'unknown', value }
}

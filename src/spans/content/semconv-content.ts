import { isRecord, numberOf, parseJson, textOf } from '../json.ts'
import type { Message, ToolDefinition } from '../../model/message.ts'
import { fromIndexed } from './indexed-messages.ts'
import { textMessage, toInstructions, toMessage, toMessages } from './messages.ts'
import { replyMessages, requestMessages } from './payloads.ts'
import { fromRolePrefixes } from './role-prefixes.ts'
import { toFinishReasons } from '../semconv.ts'
import type { SourceLog, SourceSpan } from '../source-span.ts'
import { toToolDefinitions } from './tool-definitions.ts'

/**
 * Content of the GenAI conventions, in all their versions: span attributes (JSON text or structured), indexed attributes
 * (`gen_ai.prompt.0.role`), span events, and log records with content in attributes or body.
 */

type Logs = readonly SourceLog[]

/** The input of a model or agent. System messages stay in it if the library writes them there. */
export function semconvInput(span: SourceSpan, logs: Logs = []): readonly Message[] | undefined {
  const { attributes } = span
  const written =
    attributes['gen_ai.input.messages'] ??
    attributes['gen_ai.request.messages'] ??
    // Only what is new since the call before.
    attributes['gen_ai.input.messages_delta']
  if (written !== undefined) return toMessages(written)
  return (
    fromDetails(span, logs, 'gen_ai.input.messages') ??
    fromMessageEvents(span, logs, INPUT_EVENTS) ??
    fromIndexed(attributes, 'gen_ai.prompt.', 'user') ??
    fromEventsAttribute(attributes, 'input') ??
    requestMessages(attributes.request_data) ??
    fromPlain(attributes['gen_ai.prompt'] ?? eventValue(span, 'gen_ai.content.prompt', 'gen_ai.prompt'), 'user')
  )
}

/** The output of a model or agent. */
export function semconvOutput(span: SourceSpan, logs: Logs = []): readonly Message[] | undefined {
  const { attributes } = span
  const written = attributes['gen_ai.output.messages']
  const messages = written === undefined ? fromDetails(span, logs, 'gen_ai.output.messages') : toMessages(written)
  // LiteLLM writes calls only in the older attributes, beside a message without parts.
  const isEmpty = messages?.every(({ parts }) => parts.length === 0) === true
  if (written !== undefined || messages !== undefined) {
    const indexed = isEmpty ? fromIndexed(attributes, 'gen_ai.completion.', 'assistant') : undefined
    return firstChoice(span, indexed ?? messages)
  }
  return (
    firstChoice(span, fromMessageEvents(span, logs, OUTPUT_EVENTS)) ??
    firstChoice(span, fromIndexed(attributes, 'gen_ai.completion.', 'assistant')) ??
    fromReplyData(attributes.response_data) ??
    fromEventsAttribute(attributes, 'output') ??
    fromTextAndCalls(attributes) ??
    fromPlain(
      attributes['gen_ai.completion'] ?? eventValue(span, 'gen_ai.content.completion', 'gen_ai.completion'),
      'assistant',
    )
  )
}

/** Of several answers that the request asked for, the first is the one that clients use. Each is a message. */
function firstChoice(span: SourceSpan, messages: readonly Message[] | undefined): readonly Message[] | undefined {
  if (messages === undefined || messages.length < 2) return messages
  const count = numberOf(span.attributes['gen_ai.request.choice.count']) ?? 1
  // Each choice has a reason. A message of the Responses API has none of its own.
  const reasons = toFinishReasons(span.attributes['gen_ai.response.finish_reasons'])?.length ?? 1
  const isIndexed = textOf(span.attributes['gen_ai.completion.1.finish_reason']) !== undefined
  const areChoices = count > 1 || ((isIndexed || reasons === messages.length) && messages.every(isTextAlone))
  return areChoices ? messages.slice(0, 1) : messages
}

function isTextAlone({ text, parts }: Message): boolean {
  return text !== undefined && parts.every(({ type }) => type === 'text' || type === 'reasoning')
}

/** System instructions that are separate from the input. */
export function semconvInstructions(span: SourceSpan, logs: Logs = []): string | undefined {
  const written = span.attributes['gen_ai.system_instructions'] ?? detail(span, logs, 'gen_ai.system_instructions')[0]
  return toInstructions(written)
}

/** The tools that were offered. */
export function semconvToolDefinitions(span: SourceSpan, logs: Logs = []): readonly ToolDefinition[] | undefined {
  const written =
    span.attributes['gen_ai.tool.definitions'] ??
    span.attributes['gen_ai.request.available_tools'] ??
    detail(span, logs, 'gen_ai.tool.definitions')[0]
  return written === undefined ? undefined : toToolDefinitions(written)
}

const DETAILS = 'gen_ai.client.inference.operation.details'

/** The values of one attribute in the details events: one record may have all content, or each a part. */
function detail(span: SourceSpan, logs: Logs, key: string): unknown[] {
  const values: unknown[] = []
  for (const event of span.events) if (event.name === DETAILS) values.push(event.attributes[key])
  for (const log of logs) {
    if (log.eventName !== DETAILS) continue
    values.push(log.attributes[key] ?? (isRecord(log.body) ? log.body[key] : undefined))
  }
  return values.filter((value) => value !== undefined)
}

function fromDetails(span: SourceSpan, logs: Logs, key: string): readonly Message[] | undefined {
  const messages = detail(span, logs, key).flatMap((value) => toMessages(value) ?? [])
  return messages.length === 0 ? undefined : messages
}

const INPUT_EVENTS: ReadonlyMap<string, string> = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
])
const OUTPUT_EVENTS: ReadonlyMap<string, string> = new Map([['gen_ai.choice', 'assistant']])

function fromMessageEvents(
  span: SourceSpan,
  logs: Logs,
  roles: ReadonlyMap<string, string>,
): readonly Message[] | undefined {
  const messages: Message[] = []
  const add = (message: Message | undefined): void => {
    if (message !== undefined) messages.push(message)
  }
  for (const event of span.events) {
    const role = roles.get(event.name)
    if (role !== undefined && !isFurtherChoice(event.attributes)) add(toEventMessage(event.attributes, role))
  }
  for (const log of logs) {
    const role = roles.get(log.eventName ?? '')
    if (role !== undefined && !isFurtherChoice(isRecord(log.body) ? log.body : log.attributes))
      add(readAhead.has(log) ? readAhead.get(log) : ofLog(log, role))
  }
  return messages.length === 0 ? undefined : messages
}

/** Choices are numbered from 0. */
function isFurtherChoice({ index, finish_reason: reason }: Readonly<Record<string, unknown>>): boolean {
  return reason !== undefined && (numberOf(index) ?? 0) > 0
}

/** What Logfire wrote before it followed the conventions: the reply's message, or the text of a stream. */
function fromReplyData(written: unknown): readonly Message[] | undefined {
  const data = parseJson(written)
  if (!isRecord(data)) return undefined
  const text = textOf(data.combined_chunk_content)
  return text === undefined ? replyMessages(data.message ?? data) : [textMessage('assistant', text)]
}

/** The messages of log records that were read ahead, because a span may have tens of thousands. */
const readAhead = new WeakMap<SourceLog, Message | undefined>()

/** Reads the message of a log record, and caches it until the content of its span is read. */
export function readLogMessage(log: SourceLog): Message | undefined {
  const role = INPUT_EVENTS.get(log.eventName ?? '') ?? OUTPUT_EVENTS.get(log.eventName ?? '')
  const message = role === undefined ? undefined : ofLog(log, role)
  readAhead.set(log, message)
  return message
}

function ofLog({ body, attributes }: SourceLog, role: string): Message | undefined {
  // Semantic Kernel for Python writes the payload as JSON text.
  const written = typeof body === 'string' && body.startsWith('{') ? parseJson(body) : body
  return toEventMessage(isRecord(written) ? written : attributes, role)
}

/** The payload of a message event: the message, or for `gen_ai.choice` an envelope around it. */
function toEventMessage(written: unknown, role: string): Message | undefined {
  if (!isRecord(written)) return undefined
  // Semantic Kernel for .NET writes it as JSON text in an attribute; models that only complete text receive plain text.
  const inner = parseJson(written['gen_ai.event.content'])
  const payload = isRecord(inner) ? inner : typeof inner === 'string' ? { ...written, content: inner } : written
  const message = parseJson(payload.message)
  const own = isMessage(message) ? message : message === undefined ? {} : { content: payload.message }
  const content = own.content ?? payload.content
  const blocks = typeof content === 'string' && /^\s*\[\s*[{\]]/.test(content) ? parseJson(content) : content
  return toMessage({
    ...payload,
    ...own,
    role: textOf(own.role) ?? textOf(payload.role) ?? role,
    content: blocks,
    tool_calls: parseJson(own.tool_calls ?? payload.tool_calls),
  })
}

/** A structured answer, which is JSON as well, is the content of a message. */
function isMessage(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false
  return Object.keys(value).length === 0 || MESSAGE_KEYS.some((key) => key in value)
}

const MESSAGE_KEYS = ['role', 'content', 'parts', 'tool_calls', 'function_call']

function eventValue(span: SourceSpan, eventName: string, key: string): unknown {
  return span.events.find((event) => event.name === eventName)?.attributes[key]
}

/** Reads one attribute with all messages as JSON text, or with the plain text of one. */
function fromPlain(value: unknown, role: string): readonly Message[] | undefined {
  if (value === undefined) return undefined
  const messages = toMessages(value) ?? fromBlocks(value, role)
  if (messages !== undefined) return messages
  if (typeof value !== 'string' || value === '') return undefined
  return (role === 'user' ? fromRolePrefixes(value) : undefined) ?? [textMessage(role, value)]
}

/** Reads the content of one message as a list of blocks: `[{ "text": … }]`. */
function fromBlocks(value: unknown, role: string): readonly Message[] | undefined {
  const blocks = typeof value === 'string' && value.startsWith('[{') ? parseJson(value) : undefined
  if (!Array.isArray(blocks) || !blocks.every(isTextBlock)) return undefined
  const message = toMessage({ role, content: blocks })
  return message === undefined ? undefined : [message]
}

function isTextBlock(value: unknown): boolean {
  return isRecord(value) && typeof value.text === 'string' && value.role === undefined
}

/** Logfire keeps a span's message events in one attribute. The answer is the one with a `message` or an index. */
function fromEventsAttribute(
  attributes: Readonly<Record<string, unknown>>,
  side: 'input' | 'output',
): readonly Message[] | undefined {
  const events = typeof attributes.events === 'string' ? parseJson(attributes.events) : undefined
  if (!Array.isArray(events)) return undefined
  const lastAsked = events.findLastIndex((event) => isRecord(event) && INPUT_EVENTS.has(String(event['event.name'])))
  const messages = events.flatMap((event: unknown, index) => {
    if (!isRecord(event)) return []
    const item = event['event.name'] === 'gen_ai.unknown' ? event.data : undefined
    const isAnswer =
      event.message !== undefined ||
      event['event.name'] === 'gen_ai.choice' ||
      (item !== undefined && index > lastAsked)
    if (isAnswer !== (side === 'output')) return []
    // Items of the Responses API without a message, such as calls that the provider ran.
    if (item !== undefined) return toMessage(item) ?? []
    return (
      toEventMessage(event, isAnswer ? 'assistant' : (INPUT_EVENTS.get(String(event['event.name'])) ?? 'user')) ?? []
    )
  })
  return messages.length === 0 ? undefined : messages
}

/** Reads Sentry's `gen_ai.response.text` and `gen_ai.response.tool_calls`. */
function fromTextAndCalls(attributes: Readonly<Record<string, unknown>>): readonly Message[] | undefined {
  const text = attributes['gen_ai.response.text']
  const calls = parseJson(attributes['gen_ai.response.tool_calls'])
  const list = parseJson(text)
  if (typeof text !== 'string' && !Array.isArray(list) && !Array.isArray(calls)) return undefined
  const content = Array.isArray(list) ? list.filter((item) => typeof item === 'string').join('') : (text ?? '')
  const message = toMessage({ role: 'assistant', content, tool_calls: calls })
  return message === undefined ? undefined : [message]
}

import type { ContentFact } from '../dialect.ts'
import { isRecord, parseJson, textOf } from '../json.ts'
import type { SourceEvent, SourceLog, SourceSpan } from '../source-span.ts'

/**
 * Restores content that the AWS distribution of OpenTelemetry (ADOT, used by Bedrock AgentCore) moved off the span before export. It writes
 * one log record for each such span, named after the span's scope, with the body `{ input: { messages }, output: { messages } }`. Each
 * message is the value of one attribute (`content` is text), or all attributes of one event (`content` is an object); of several events
 * with the same name, only the last is kept. The attribute's name is lost, and is derived from what else is on the span.
 *
 * Returns the span itself if there is no such record.
 */
export function withMovedContent(span: SourceSpan, logs: readonly SourceLog[]): SourceSpan {
  if (!logs.some(isMovedContent)) return span
  const bodies = logs
    .filter(isMovedContent)
    .map(({ body }) => parseJson(body))
    .filter(isRecord)
  const input = bodies.flatMap((body) => messagesOf(body.input))
  const output = bodies.flatMap((body) => messagesOf(body.output))
  const attributes: Record<string, unknown> = { ...span.attributes }
  restoreTexts(attributes, 'input', input)
  restoreTexts(attributes, 'output', output)
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    parentIsRemote: span.parentIsRemote,
    name: span.name,
    kind: span.kind,
    scope: span.scope,
    attributes,
    events: [...span.events, ...toEvents(input, output, span.startTimeMs)],
    status: span.status,
    startTimeMs: span.startTimeMs,
    endTimeMs: span.endTimeMs,
    startOrder: span.startOrder,
    resource: span.resource,
    droppedAttributesCount: span.droppedAttributesCount,
  }
}

/** Whether this is a log record with content moved from a span. */
export function isMovedContent({ eventName, scope, body }: SourceLog): boolean {
  if (eventName === undefined || eventName !== scope.name) return false
  // Some pipelines write structured bodies as JSON text.
  const written = parseJson(body)
  return isRecord(written) && (messagesOf(written.input).length > 0 || messagesOf(written.output).length > 0)
}

interface MovedMessage {
  readonly role: string
  readonly content: unknown
}

function messagesOf(side: unknown): readonly MovedMessage[] {
  if (!isRecord(side) || !Array.isArray(side.messages)) return []
  return side.messages.flatMap((item: unknown) =>
    isRecord(item) && item.content !== undefined ? [{ role: String(item.role), content: item.content }] : [],
  )
}

/** The prefixes of indexed attributes whose `role` stays on the span when their `content` is moved. */
const INDEXED = {
  input: [
    ['gen_ai.prompt.', '.role', '.content'],
    ['llm.input_messages.', '.message.role', '.message.content'],
  ],
  output: [
    ['gen_ai.completion.', '.role', '.content'],
    ['llm.output_messages.', '.message.role', '.message.content'],
  ],
} as const

/** Puts texts back into their attributes: plain ones first, then indexed ones. */
function restoreTexts(
  attributes: Record<string, unknown>,
  side: 'input' | 'output',
  messages: readonly MovedMessage[],
): void {
  const texts = messages.filter(({ content }) => !isRecord(content))
  const places = INDEXED[side].flatMap(([prefix, roleSuffix, suffix]) =>
    placesIn(attributes, prefix, roleSuffix, suffix),
  )
  const plain = texts.slice(0, Math.max(0, texts.length - places.length))
  for (const { role, content } of plain) {
    const key = keyOf(attributes, side, role, content)
    if (attributes[key] === undefined) attributes[key] = content
  }
  const waiting = [...places]
  for (const { role, content } of texts.slice(plain.length)) {
    const at = waiting.findIndex((place) => place.role === role)
    const [place] = at === -1 ? [] : waiting.splice(at, 1)
    if (place !== undefined) attributes[place.key] = content
  }
}

interface Place {
  readonly index: number
  readonly role: unknown
  readonly key: string
}

/** The indexed messages with a role but without content or calls, in order. */
function placesIn(
  attributes: Readonly<Record<string, unknown>>,
  prefix: string,
  roleSuffix: string,
  suffix: string,
): readonly Place[] {
  const places: Place[] = []
  const withCalls = new Set<string>()
  for (const key in attributes) {
    if (!key.startsWith(prefix)) continue
    const index = key.slice(prefix.length, key.indexOf('.', prefix.length))
    if (key.includes('tool_calls.')) withCalls.add(index)
    if (key !== prefix + index + roleSuffix) continue
    if (attributes[prefix + index + suffix] === undefined) {
      places.push({ index: Number(index), role: attributes[key], key: prefix + index + suffix })
    }
  }
  return places.filter(({ index }) => !withCalls.has(String(index))).toSorted((left, right) => left.index - right.index)
}

/** The attribute that contained a text. */
function keyOf(
  attributes: Readonly<Record<string, unknown>>,
  side: 'input' | 'output',
  role: string,
  content: unknown,
): string {
  if (role === 'system') return isMessageList(content) ? 'gen_ai.system_instructions' : 'system_prompt'
  if (attributes['openinference.span.kind'] !== undefined) return `${side}.value`
  if (attributes['traceloop.span.kind'] !== undefined) return `traceloop.entity.${side}`
  if (isMessageList(content)) return `gen_ai.${side}.messages`
  return side === 'input' ? 'gen_ai.prompt' : 'gen_ai.completion'
}

function isMessageList(content: unknown): boolean {
  return (
    Array.isArray(content) ||
    (typeof content === 'string' && content.startsWith('[{') && Array.isArray(parseJson(content)))
  )
}

/**
 * Restores message events, named by their roles. An assistant message in the input is an earlier answer of the model: it comes after the
 * question if it requested tools, and before it otherwise.
 */
function toEvents(
  input: readonly MovedMessage[],
  output: readonly MovedMessage[],
  timeMs: number,
): readonly SourceEvent[] {
  const asked: SourceEvent[] = []
  const given: SourceEvent[] = []
  for (const { role, content } of input) {
    if (isRecord(content)) given.push({ name: `gen_ai.${role}.message`, timeMs, attributes: content })
  }
  const answers: SourceEvent[] = []
  for (const { content } of output) {
    if (!isRecord(content)) continue
    if (content.message !== undefined) answers.push({ name: 'gen_ai.choice', timeMs, attributes: content })
    else asked.push({ name: 'gen_ai.assistant.message', timeMs, attributes: content })
  }
  const isAnswered = given.some(({ name }) => name === 'gen_ai.tool.message')
  if (!isAnswered) return [...asked, ...given, ...answers]
  const results = given.filter(({ name }) => name === 'gen_ai.tool.message')
  return [...given.filter(({ name }) => name !== 'gen_ai.tool.message'), ...asked, ...results, ...answers]
}

/**
 * Whether an application stored the content of a fact elsewhere, and its spans or log records only refer to it, as with the upload hook of
 * OpenTelemetry's instrumentations for Python (`gen_ai.input.messages_ref`).
 */
export function isStoredElsewhere(span: SourceSpan, fact: ContentFact, logs: readonly SourceLog[]): boolean {
  const key = REFERENCES[fact]
  if (textOf(span.attributes[key]) !== undefined) return true
  return [...span.events, ...logs].some(({ attributes }) => textOf(attributes[key]) !== undefined)
}

const REFERENCES: Readonly<Record<ContentFact, string>> = {
  systemInstructions: 'gen_ai.system_instructions_ref',
  input: 'gen_ai.input.messages_ref',
  output: 'gen_ai.output.messages_ref',
  toolCalls: 'gen_ai.output.messages_ref',
  toolDefinitions: 'gen_ai.tool.definitions_ref',
  toolArguments: 'gen_ai.tool.call.arguments_ref',
  toolResult: 'gen_ai.tool.call.result_ref',
  documents: 'gen_ai.retrieval.documents_ref',
}

import { isRecord, numberOf, textOf } from '../spans/json.ts'
import { timeMs } from '../spans/outside-number.ts'
import type { SourceEvent, SourceSpan } from '../spans/source-span.ts'
import { listOf, scopeFrom, setAttribute, toId } from './batch.ts'
import type { OtlpBatch } from './batch.ts'

type Attributes = Record<string, unknown>

/** Tags by which Jaeger represents OTLP's own fields. */
const FIELD_TAGS: ReadonlySet<string> = new Set([
  'span.kind',
  'otel.scope.name',
  'otel.scope.version',
  'otel.library.name',
  'otel.library.version',
  'otel.status_code',
  'otel.status_description',
  'w3c.tracestate',
  'internal.span.format',
])

/** Span kinds, by OTLP's numbers. */
const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']

/** A trace of Jaeger's JSON model, as far as it is checked. */
interface JaegerTrace {
  readonly spans: readonly unknown[]
  readonly processes?: unknown
}

/** Whether a JSON value is a trace of Jaeger's query API or of its page's download. */
export function isJaegerTrace(value: unknown): value is JaegerTrace {
  return (
    isRecord(value) && Array.isArray(value.spans) && (isRecord(value.processes) || typeof value.traceID === 'string')
  )
}

/**
 * Reads one trace of Jaeger's own JSON model (`{ traceID, spans, processes }`) as Jaeger converts it from OTLP: scope, status and kind are
 * tags, resources are processes, times are microseconds.
 */
export function readJaegerTrace(trace: JaegerTrace, batch: OtlpBatch): void {
  const processes = isRecord(trace.processes) ? trace.processes : {}
  const resources = new Map(Object.entries(processes).map(([id, process]) => [id, toResource(process)]))
  for (const item of trace.spans) {
    const span = toSpan(item, resources)
    if (span === undefined) batch.invalid++
    else batch.spans.push(span)
  }
}

function toSpan(value: unknown, resources: ReadonlyMap<string, Attributes>): SourceSpan | undefined {
  if (!isRecord(value)) return undefined
  const traceId = toJaegerId(value.traceID, 32)
  const spanId = toJaegerId(value.spanID, 16)
  if (traceId === undefined || spanId === undefined) return undefined
  const tags = toTags(value.tags)
  const parentSpanId = parentOf(value, traceId)
  const startTimeMs = timeMs((numberOf(value.startTime) ?? 0) / 1000)
  const message = textOf(tags['otel.status_description'])
  const code = toStatusCode(tags)
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: textOf(value.operationName) ?? '',
    kind: Math.max(0, KINDS.indexOf(textOf(tags['span.kind'])?.toLowerCase() ?? '')),
    scope: scopeFrom({ name: '' }, tags),
    attributes: withoutFields(tags, code === 'error'),
    events: listOf(value.logs).flatMap(toEvent),
    status: message === undefined ? { code } : { code, message },
    startTimeMs,
    endTimeMs: Math.max(startTimeMs, timeMs(startTimeMs + (numberOf(value.duration) ?? 0) / 1000)),
    resource: resources.get(textOf(value.processID) ?? '') ?? toResource(value.process),
    droppedAttributesCount: 0,
  }
}

/** The first parent in the same trace. Older clients write it in a separate field. */
function parentOf(span: Readonly<Record<string, unknown>>, traceId: string): string | undefined {
  for (const reference of listOf(span.references)) {
    if (!isRecord(reference) || reference.refType !== 'CHILD_OF') continue
    if (toJaegerId(reference.traceID, 32) === traceId) return toJaegerId(reference.spanID, 16)
  }
  return toJaegerId(span.parentSpanID, 16)
}

/** Reads an id in hex. Older versions of Jaeger omit leading zeros. */
function toJaegerId(value: unknown, digits: 16 | 32): string | undefined {
  return typeof value === 'string'
    ? toId(value.length < digits ? value.padStart(digits, '0') : value, digits)
    : undefined
}

function toStatusCode(tags: Readonly<Attributes>): 'unset' | 'ok' | 'error' {
  if (tags['otel.status_code'] === 'ERROR' || isTrue(tags['error'])) return 'error'
  return tags['otel.status_code'] === 'OK' ? 'ok' : 'unset'
}

/** Some storages keep all tags as text. */
function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}

/** Removes tags of OTLP's fields, and the `error` tag that Jaeger adds to spans with status ERROR. */
function withoutFields(tags: Readonly<Attributes>, isError: boolean): Attributes {
  const attributes: Attributes = {}
  for (const [key, value] of Object.entries(tags)) {
    if (FIELD_TAGS.has(key) || (key === 'error' && isError && isTrue(value))) continue
    setAttribute(attributes, key, value)
  }
  return attributes
}

function toEvent(value: unknown): SourceEvent[] {
  if (!isRecord(value)) return []
  const { event, ...attributes } = toTags(value.fields)
  return [{ name: textOf(event) ?? '', timeMs: timeMs((numberOf(value.timestamp) ?? 0) / 1000), attributes }]
}

function toResource(value: unknown): Attributes {
  if (!isRecord(value)) return {}
  const name = textOf(value.serviceName)
  return { ...toTags(value.tags), ...(name !== undefined && { 'service.name': name }) }
}

function toTags(list: unknown): Attributes {
  const tags: Attributes = {}
  for (const tag of listOf(list)) {
    if (isRecord(tag) && typeof tag.key === 'string') setAttribute(tags, tag.key, toTagValue(tag.type, tag.value))
  }
  return tags
}

/** Numbers and booleans may be written as text. Jaeger has no list type, so lists are JSON text. */
function toTagValue(type: unknown, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (type === 'bool') return value === 'true'
  if (type === 'int64' || type === 'float64') return numberOf(value) ?? value
  return value.startsWith('[') ? toList(value) : value
}

/**
 * Parses a list of strings, numbers or booleans, the only items that OTLP's lists may have. Messages and tool definitions, which are JSON
 * text in OTLP too, are lists of objects and stay text.
 */
function toList(text: string): unknown {
  if (/^\[\s*[{[]/.test(text)) return text
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every((item) => typeof item !== 'object' || item === null) ? list : text
  } catch {
    return text
  }
}

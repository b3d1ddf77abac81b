import { isRecord, numberOf, textOf } from '../spans/json.ts'
import { timeMs } from '../spans/outside-number.ts'
import type { SourceEvent, SourceLog, SourceSpan } from '../spans/source-span.ts'
import { createBatch, isParentRemote, listOf, scopeFrom, setAttribute, toId, toStatusCode } from './batch.ts'
import type { OtlpBatch } from './batch.ts'

type Attributes = Record<string, unknown>
type Scope = SourceSpan['scope']

/**
 * Reads one OTLP/JSON export request of traces, logs, or both (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
 * `undefined` for any other value, without `resourceSpans`, `resourceLogs` or `resourceMetrics`.
 */
export function readOtlpJson(value: unknown): OtlpBatch | undefined {
  if (!isRecord(value) || !isOtlpRequest(value)) return undefined
  const batch = createBatch()
  addOtlpRequest(value, batch)
  return batch
}

/**
 * The names of a protobuf message's own definition (`resource_spans`, `trace_id`), which Python writes with `preserving_proto_field_name`, as
 * OTLP/JSON has them. Keys of attributes are values of this format, and stay.
 */
export function fromProtobufNames(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => fromProtobufNames(item, depth + 1))
  if (!isRecord(value) || depth > MAX_DEPTH) return value
  const renamed: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    const name = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    setAttribute(renamed, name, fromProtobufNames(item, depth + 1))
  }
  return renamed
}

/** Deeper values are not read. An attribute's value takes three levels of JSON for one of its own. */
const MAX_DEPTH = 600

/** Whether a JSON object is an OTLP export request of any signal. */
export function isOtlpRequest(value: object): boolean {
  return 'resourceSpans' in value || 'resourceLogs' in value || 'resourceMetrics' in value
}

/** Adds the contents of an OTLP/JSON export request to a batch. */
export function addOtlpRequest(request: Readonly<Record<string, unknown>>, batch: OtlpBatch): void {
  for (const entry of listOf(request.resourceSpans)) readResourceSpans(entry, batch)
  for (const entry of listOf(request.resourceLogs)) readResourceLogs(entry, batch)
}

/** Whether a JSON object is one span or log record by itself, as CloudWatch keeps those that it receives by OTLP. */
export function isOtlpRecord(value: Readonly<Record<string, unknown>>): boolean {
  return typeof value.spanId === 'string' && isRecord(value.scope) && TIME_KEYS.some((key) => value[key] !== undefined)
}

const TIME_KEYS = ['startTimeUnixNano', 'timeUnixNano', 'observedTimeUnixNano']

/** Adds such a record to a batch. Its attributes and its body are plain JSON. */
export function addOtlpRecord(record: Readonly<Record<string, unknown>>, batch: OtlpBatch): void {
  const resource = toResource(record.resource)
  const scope = toScope(record.scope)
  if (record.startTimeUnixNano === undefined) {
    batch.logs.push({
      ...toLog({ ...record, body: undefined }, scope),
      ...(record.body !== undefined && { body: record.body }),
    })
    return
  }
  const span = toSpan(record, resource, scope)
  if (span === undefined) batch.invalid++
  else batch.spans.push(span)
}

function readResourceSpans(entry: unknown, batch: OtlpBatch): void {
  if (!isRecord(entry)) return
  const resource = toResource(entry.resource)
  // Before OTLP 0.15, scopes were called instrumentation libraries. Older versions of Tempo still write that.
  for (const scopeSpans of listOf(entry.scopeSpans ?? entry.instrumentationLibrarySpans)) {
    if (!isRecord(scopeSpans)) continue
    const scope = toScope(scopeSpans.scope ?? scopeSpans.instrumentationLibrary)
    for (const item of listOf(scopeSpans.spans)) {
      const span = toSpan(item, resource, scope)
      if (span === undefined) batch.invalid++
      else batch.spans.push(span)
    }
  }
}

function readResourceLogs(entry: unknown, batch: OtlpBatch): void {
  if (!isRecord(entry)) return
  for (const scopeLogs of listOf(entry.scopeLogs)) {
    if (!isRecord(scopeLogs)) continue
    const scope = toScope(scopeLogs.scope)
    for (const item of listOf(scopeLogs.logRecords)) {
      if (!isRecord(item)) batch.invalid++
      else batch.logs.push(toLog(item, scope))
    }
  }
}

function toSpan(value: unknown, resource: Attributes, scope: Scope): SourceSpan | undefined {
  if (!isRecord(value)) return undefined
  const traceId = toId(value.traceId, 32)
  const spanId = toId(value.spanId, 16)
  if (traceId === undefined || spanId === undefined) return undefined
  const parentSpanId = toId(value.parentSpanId, 16)
  const startTimeMs = toMilliseconds(value.startTimeUnixNano)
  const status = isRecord(value.status) ? value.status : {}
  const message = textOf(status.message)
  const code = toStatusCode(status.code)
  const attributes = toAttributes(value.attributes)
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...(isParentRemote(numberOf(value.flags) ?? 0) && { parentIsRemote: true }),
    name: textOf(value.name) ?? '',
    kind: toKind(value.kind),
    scope: scopeFrom(scope, attributes),
    attributes,
    events: listOf(value.events).flatMap(toEvent),
    status: message === undefined ? { code } : { code, message },
    startTimeMs,
    endTimeMs: toMilliseconds(value.endTimeUnixNano) || startTimeMs,
    resource,
    droppedAttributesCount: numberOf(value.droppedAttributesCount) ?? 0,
  }
}

function toEvent(value: unknown): SourceEvent[] {
  if (!isRecord(value)) return []
  const attributes = toAttributes(value.attributes)
  return [{ name: textOf(value.name) ?? '', timeMs: toMilliseconds(value.timeUnixNano), attributes }]
}

function toLog(value: Record<string, unknown>, scope: Scope): SourceLog {
  const attributes = toAttributes(value.attributes)
  const eventName = textOf(value.eventName) ?? textOf(attributes['event.name'])
  const body = toValue(value.body)
  return {
    traceId: toId(value.traceId, 32) ?? '',
    spanId: toId(value.spanId, 16) ?? '',
    ...(eventName !== undefined && { eventName }),
    timeMs: toMilliseconds(value.timeUnixNano) || toMilliseconds(value.observedTimeUnixNano),
    attributes,
    ...(body !== undefined && { body }),
    scope: scopeFrom(scope, attributes),
  }
}

function toResource(value: unknown): Attributes {
  return isRecord(value) ? toAttributes(value.attributes) : {}
}

function toScope(value: unknown): Scope {
  if (!isRecord(value)) return { name: '' }
  const version = textOf(value.version)
  return { name: textOf(value.name) ?? '', ...(version !== undefined && { version }) }
}

/** Converts an OTLP/JSON attribute list to an object of plain values, which some backends write instead. */
export function toAttributes(list: unknown): Attributes {
  const attributes: Attributes = {}
  if (isRecord(list)) for (const [key, value] of Object.entries(list)) setAttribute(attributes, key, value)
  for (const item of listOf(list)) {
    if (!isRecord(item) || typeof item.key !== 'string') continue
    const value = toValue(item.value)
    // JavaScript SDKs write undefined attributes as an empty value.
    if (value !== undefined) setAttribute(attributes, item.key, value)
  }
  return attributes
}

/** Converts an `AnyValue` to a JavaScript value. 64-bit integers that do not fit a number stay decimal text; bytes stay base64. */
function toValue(value: unknown, depth = 0): unknown {
  if (!isRecord(value) || depth > 200) return undefined
  if (value.stringValue !== undefined) return value.stringValue
  if (value.intValue !== undefined) return toInteger(value.intValue)
  if (value.boolValue !== undefined) return value.boolValue
  if (value.doubleValue !== undefined) return toDouble(value.doubleValue)
  if (isRecord(value.arrayValue)) {
    return listOf(value.arrayValue.values).map((item) => toValue(item, depth + 1) ?? null)
  }
  if (isRecord(value.kvlistValue)) return toObject(listOf(value.kvlistValue.values), depth)
  return value.bytesValue ?? undefined
}

function toObject(entries: readonly unknown[], depth: number): Attributes {
  const object: Attributes = {}
  for (const entry of entries) {
    if (!isRecord(entry) || typeof entry.key !== 'string') continue
    setAttribute(object, entry.key, toValue(entry.value, depth + 1) ?? null)
  }
  return object
}

function toInteger(value: unknown): unknown {
  const number = numberOf(value)
  return number !== undefined && Number.isSafeInteger(number) ? number : value
}

/** Proto3's JSON writes numbers that JSON lacks as `"NaN"`, `"Infinity"` and `"-Infinity"`. */
function toDouble(value: unknown): unknown {
  return typeof value === 'string' ? Number(value) : value
}

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']

function toKind(value: unknown): number {
  if (typeof value === 'string' && /^[A-Z_]+$/.test(value))
    return Math.max(0, KINDS.indexOf(value.replace('SPAN_KIND_', '')))
  return numberOf(value) ?? 0
}

/** Reads nanoseconds, as a number or its text, or a date and time in UTC, as pipelines between backends write them. */
function toMilliseconds(written: unknown): number {
  const nanoseconds = numberOf(written)
  return timeMs(nanoseconds === undefined ? dateToMilliseconds(written) : nanoseconds / 1e6)
}

/** `Date` counts in whole milliseconds; the order of short spans is in the digits behind them. */
function dateToMilliseconds(written: unknown): number {
  const [, seconds, fraction = '', zone = 'Z'] = (typeof written === 'string' && DATE_TIME.exec(written)) || []
  if (seconds === undefined) return 0
  return Date.parse(`${seconds.replace(' ', 'T')}${zone}`) + Number(`0${fraction}`) * 1000
}

const DATE_TIME = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?$/

import { isRecord, numberOf, textOf } from '../spans/json.ts'
import { timeMs } from '../spans/outside-number.ts'
import type { SourceEvent, SourceLog, SourceSpan } from '../spans/source-span.ts'
import { createBatch, isParentRemote, listOf, setAttribute, toId, toStatusCode } from './batch.ts'
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

/** Whether a JSON object is an OTLP export request of any signal. */
export function isOtlpRequest(value: object): boolean {
  return 'resourceSpans' in value || 'resourceLogs' in value || 'resourceMetrics' in value
}

/** Adds the contents of an OTLP/JSON export request to a batch. */
export function addOtlpRequest(request: Readonly<Record<string, unknown>>, batch: OtlpBatch): void {
  for (const entry of listOf(request.resourceSpans)) readResourceSpans(entry, batch)
  for (const entry of listOf(request.resourceLogs)) readResourceLogs(entry, batch)
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
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...(isParentRemote(numberOf(value.flags) ?? 0) && { parentIsRemote: true }),
    name: textOf(value.name) ?? '',
    kind: toKind(value.kind),
    scope,
    attributes: toAttributes(value.attributes),
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
    scope,
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

/** Converts an OTLP/JSON attribute list to an object of plain values. */
export function toAttributes(list: unknown): Attributes {
  const attributes: Attributes = {}
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
  if (typeof value === 'string' && value.startsWith('SPAN_KIND_')) return Math.max(0, KINDS.indexOf(value.slice(10)))
  return numberOf(value) ?? 0
}

function toMilliseconds(nanoseconds: unknown): number {
  return timeMs((numberOf(nanoseconds) ?? 0) / 1e6)
}

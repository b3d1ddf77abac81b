import { isKeyOfDialect, isNameOfDialect, scopeKindOf } from '../spans/recognition-hints.ts'
import type { SourceEvent, SourceLog, SourceSpan } from '../spans/source-span.ts'
import { createBatch, isParentRemote, toStatusCode } from './batch.ts'
import type { OtlpBatch } from './batch.ts'
import {
  eachField,
  endOf,
  FIXED_32,
  FIXED_64,
  LENGTH_DELIMITED,
  readAttributeList,
  readId,
  readKeyValue,
  readTag,
  readString,
  readTime,
  readValue,
  skipField,
  VARINT,
} from './protobuf-values.ts'
import type { Reader } from './protobuf-values.ts'

type Attributes = Record<string, unknown>
type Scope = SourceSpan['scope']

/** Field 1 of a `KeyValue`, its key: a text. */
const KEY_TAG = 0x0a

/** Fields, by wire type and number, that only spans or only log records have. */
const KIND_OF_FIELD: Readonly<Record<number, Readonly<Record<number, 'span' | 'log'>>>> = {
  [VARINT]: { 2: 'log', 6: 'span', 7: 'log', 10: 'span', 12: 'span', 14: 'span' },
  [FIXED_64]: { 1: 'log', 7: 'span', 8: 'span', 11: 'log' },
  [FIXED_32]: { 8: 'log', 16: 'span' },
}

/** How requests are decoded. */
export interface ProtobufDecoderOptions {
  /**
   * Leaves out attributes and events of spans that no dialect can recognise: most spans of an application are of libraries that
   * have nothing to do with agents, and only their place in the trace is needed. @default false
   */
  readonly skipsOrdinary?: boolean
}

/** What a request holds, and where each span is in its bytes. */
export interface ProtobufBatch extends OtlpBatch {
  /** For each span where its message starts and where it ends. */
  readonly places: number[]
}

/** Decodes requests, and single spans of them once more. */
export interface ProtobufDecoder {
  (bytes: Uint8Array): ProtobufBatch
  /** The span between two places of a request that was decoded. */
  span(
    bytes: Uint8Array,
    start: number,
    end: number,
    of: Pick<SourceSpan, 'resource' | 'scope'>,
  ): SourceSpan | undefined
}

/** What is decoded, and where to. */
interface Target {
  readonly batch: ProtobufBatch
  readonly skipsOrdinary: boolean
}

/**
 * Loads the protobuf wire reader. It is loaded when protobuf is first met, not with the package.
 *
 * The decoder below knows the field numbers of `opentelemetry/proto` v1 (trace, logs, common, resource) and reads straight
 * into the flat form, so that neither generated code nor a descriptor is needed.
 */
export async function createProtobufDecoder({
  skipsOrdinary = false,
}: ProtobufDecoderOptions = {}): Promise<ProtobufDecoder> {
  const { BinaryReader } = await import('@bufbuild/protobuf/wire')
  const readerOf = (bytes: Uint8Array): Reader => {
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return Object.assign(new BinaryReader(source), { source })
  }
  const decode = (bytes: Uint8Array): ProtobufBatch =>
    readRequest(readerOf(bytes), { batch: { ...createBatch(), places: [] }, skipsOrdinary })
  const span: ProtobufDecoder['span'] = (bytes, start, end, { resource, scope }) => {
    const reader = readerOf(bytes)
    reader.pos = start
    return readSpan(reader, end, resource, scope, false)
  }
  return Object.assign(decode, { span })
}

/** `ExportTraceServiceRequest` and `ExportLogsServiceRequest`: both are field 1, repeated, of entries with a resource. */
function readRequest(reader: Reader, target: Target): ProtobufBatch {
  eachField(reader, reader.len, (field, wireType) => {
    if (field !== 1 || wireType !== LENGTH_DELIMITED) return false
    readResourceEntry(reader, endOf(reader), target)
    return true
  })
  return target.batch
}

/** `ResourceSpans` and `ResourceLogs`: 1 resource, 2 the entries of each scope. */
function readResourceEntry(reader: Reader, end: number, target: Target): void {
  let resource: Attributes = {}
  const scopes: { start: number; end: number }[] = []
  eachField(reader, end, (field, wireType) => {
    if (wireType !== LENGTH_DELIMITED || field > 2) return false
    const entryEnd = endOf(reader)
    if (field === 1) resource = readAttributeList(reader, entryEnd, 1)
    else scopes.push({ start: reader.pos, end: entryEnd })
    reader.pos = entryEnd
    return true
  })
  for (const scope of scopes) {
    reader.pos = scope.start
    readScopeEntry(reader, scope.end, resource, target)
  }
  reader.pos = end
}

/** `ScopeSpans` and `ScopeLogs`: 1 scope, 2 the spans or log records. */
function readScopeEntry(reader: Reader, end: number, resource: Attributes, target: Target): void {
  let scope: Scope = { name: '' }
  const records: { start: number; end: number }[] = []
  eachField(reader, end, (field, wireType) => {
    if (wireType !== LENGTH_DELIMITED || field > 2) return false
    const entryEnd = endOf(reader)
    if (field === 1) scope = readScope(reader, entryEnd)
    else records.push({ start: reader.pos, end: entryEnd })
    reader.pos = entryEnd
    return true
  })
  const ofLibrary = target.skipsOrdinary && scopeKindOf(scope.name) === 'library'
  const ofScope = ofLibrary ? { ...target, skipsOrdinary: false } : target
  for (const record of records) {
    reader.pos = record.start
    readRecord(reader, record.end, resource, scope, ofScope)
  }
}

/**
 * Spans, log records and metrics have the same place in their requests. Writers choose the order of the fields (the Collector
 * writes the highest number first), so the record's kind is known from any field whose number and wire type only one of them
 * has. What is left without such a field is a metric where it has a field 1 (its name), else a log record without times.
 */
function readRecord(reader: Reader, end: number, resource: Attributes, scope: Scope, target: Target): void {
  const { batch } = target
  const start = reader.pos
  const { kind, isOrdinary } = kindOf(reader, end, target.skipsOrdinary)
  reader.pos = start
  if (kind === 'span') {
    const span = readSpan(reader, end, resource, scope, isOrdinary)
    if (span === undefined) batch.invalid++
    else {
      batch.spans.push(span)
      batch.places.push(start, end)
    }
  } else if (kind === 'log') {
    batch.logs.push(readLog(reader, end, scope))
  }
  reader.pos = end
}

/** Looks at the fields of a record, as far as needed. */
function kindOf(
  reader: Reader,
  end: number,
  skipsOrdinary: boolean,
): { readonly kind: 'span' | 'log' | undefined; readonly isOrdinary: boolean } {
  const start = reader.pos
  let kind: 'span' | 'log' | undefined
  let hasFirstField = false
  let isOrdinary = skipsOrdinary
  while (reader.pos < end && (kind === undefined || isOrdinary)) {
    const tag = readTag(reader)
    const field = tag >>> 3
    const wireType = tag & 7
    kind ??= KIND_OF_FIELD[wireType]?.[field]
    hasFirstField ||= field === 1
    if (isOrdinary && wireType === LENGTH_DELIMITED && (field === 5 || field === 9)) {
      const fieldEnd = endOf(reader)
      isOrdinary = !(field === 5 ? isNameOfDialect : hasKeyOfDialect)(reader.source, reader.pos, fieldEnd)
      reader.pos = fieldEnd
    } else skipField(reader, tag)
  }
  if (!hasFirstField && reader.pos >= end && end > start) kind ??= 'log'
  return { kind, isOrdinary }
}

/**
 * Whether the key of an attribute is in a dialect's namespace. A key that does not come first in its message, or is long, is taken
 * for one. The bytes may be those of another field, where the record turns out to be none of a span.
 */
function hasKeyOfDialect(bytes: Uint8Array, start: number, end: number): boolean {
  const length = bytes[start + 1] ?? 0
  if (bytes[start] !== KEY_TAG || length > 127) return true
  return isKeyOfDialect(bytes, start + 2, Math.min(start + 2 + length, end))
}

/** @param isOrdinary Whether attributes and events are left out. */
function readSpan(
  reader: Reader,
  end: number,
  resource: Attributes,
  scope: Scope,
  isOrdinary: boolean,
): SourceSpan | undefined {
  const attributes: Attributes = {}
  const events: SourceEvent[] = []
  const span = { traceId: '', spanId: '', parentSpanId: '', name: '', kind: 0, startTimeMs: 0, endTimeMs: 0 }
  let status: SourceSpan['status'] = { code: 'unset' }
  let droppedAttributesCount = 0
  let flags = 0
  eachField(reader, end, (field, wireType) => {
    if (field === 1) span.traceId = readId(reader, 16)
    else if (field === 2) span.spanId = readId(reader, 8)
    else if (field === 4) span.parentSpanId = readId(reader, 8)
    else if (field === 5) span.name = readString(reader)
    else if (isOrdinary && (field === 9 || field === 11)) return false
    else if (field === 6) span.kind = reader.uint32()
    else if (field === 7) span.startTimeMs = readTime(reader, wireType)
    else if (field === 8) span.endTimeMs = readTime(reader, wireType)
    else if (field === 9) readKeyValue(reader, endOf(reader), attributes, false, 0)
    else if (field === 10) droppedAttributesCount = reader.uint32()
    else if (field === 11) events.push(readEvent(reader, endOf(reader)))
    else if (field === 15) status = readStatus(reader, endOf(reader))
    else if (field === 16) flags = reader.fixed32()
    else return false
    return true
  })
  if (span.traceId === '' || span.spanId === '') return undefined
  const { parentSpanId, ...rest } = span
  return {
    ...rest,
    ...(parentSpanId !== '' && { parentSpanId }),
    ...(isParentRemote(flags) && { parentIsRemote: true }),
    endTimeMs: span.endTimeMs || span.startTimeMs,
    scope,
    attributes,
    events,
    status,
    resource,
    droppedAttributesCount,
  }
}

function readEvent(reader: Reader, end: number): SourceEvent {
  const attributes: Attributes = {}
  let timeMs = 0
  let name = ''
  eachField(reader, end, (field, wireType) => {
    if (field === 1) timeMs = readTime(reader, wireType)
    else if (field === 2) name = readString(reader)
    else if (field === 3) readKeyValue(reader, endOf(reader), attributes, false, 0)
    else return false
    return true
  })
  return { name, timeMs, attributes }
}

function readStatus(reader: Reader, end: number): SourceSpan['status'] {
  let message = ''
  let code = 0
  eachField(reader, end, (field) => {
    if (field === 2) message = readString(reader)
    else if (field === 3) code = reader.uint32()
    else return false
    return true
  })
  return message === '' ? { code: toStatusCode(code) } : { code: toStatusCode(code), message }
}

function readLog(reader: Reader, end: number, scope: Scope): SourceLog {
  const attributes: Attributes = {}
  const log = { traceId: '', spanId: '', eventName: '' }
  let timeMs = 0
  let observedTimeMs = 0
  let body: unknown
  eachField(reader, end, (field, wireType) => {
    if (field === 1) timeMs = readTime(reader, wireType)
    else if (field === 5) body = readValue(reader, endOf(reader), 0)
    else if (field === 6) readKeyValue(reader, endOf(reader), attributes, false, 0)
    else if (field === 9) log.traceId = readId(reader, 16)
    else if (field === 10) log.spanId = readId(reader, 8)
    else if (field === 11) observedTimeMs = readTime(reader, wireType)
    else if (field === 12) log.eventName = readString(reader)
    else return false
    return true
  })
  const eventName = log.eventName || attributes['event.name']
  return {
    traceId: log.traceId,
    spanId: log.spanId,
    ...(typeof eventName === 'string' && eventName !== '' && { eventName }),
    timeMs: timeMs || observedTimeMs,
    attributes,
    ...(body !== undefined && { body }),
    scope,
  }
}

function readScope(reader: Reader, end: number): Scope {
  let name = ''
  let version = ''
  eachField(reader, end, (field) => {
    if (field === 1) name = readString(reader)
    else if (field === 2) version = readString(reader)
    else return false
    return true
  })
  return version === '' ? { name } : { name, version }
}

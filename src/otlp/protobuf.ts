import { BoundedMap } from '../spans/bounded-map.ts'
import { isKeyOfDialect, isNameOfDialect, scopeKindOf } from '../spans/recognition-hints.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { createBatch } from './batch.ts'
import type { OtlpBatch } from './batch.ts'
import { readLog, readScope, readSpan } from './protobuf-records.ts'
import {
  eachField,
  endOf,
  FIXED_32,
  FIXED_64,
  LENGTH_DELIMITED,
  readAttributeList,
  readTag,
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

/** What a request holds, and where each span and log record is in its bytes. */
export interface ProtobufBatch extends OtlpBatch {
  /** For each span where its message starts and where it ends. */
  readonly spanPlaces: number[]
  /** The same for each log record. */
  readonly logPlaces: number[]
}

/** Decodes requests, and single spans and log records of them once more. */
export interface ProtobufDecoder {
  (bytes: Uint8Array): ProtobufBatch
  /** The span between two places of a request that was decoded. */
  span(
    bytes: Uint8Array,
    start: number,
    end: number,
    of: Pick<SourceSpan, 'resource' | 'scope'>,
  ): SourceSpan | undefined
  /** The log record between two places of a request that was decoded. */
  log(bytes: Uint8Array, start: number, end: number, of: Pick<SourceLog, 'scope'>): SourceLog
}

/** Attributes of resources by the bytes that they were read from, each byte a character. */
type KnownResources = BoundedMap<string, Attributes>

/** As many senders as one process may reasonably hear of, and as much as they may reasonably say of themselves. */
const MAX_RESOURCES = 1000
const MAX_RESOURCE_BYTES = 4096

/** What is decoded, and where to. */
interface Target {
  readonly batch: ProtobufBatch
  readonly resources: KnownResources
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
  const resources: KnownResources = new BoundedMap(MAX_RESOURCES)
  const decode = (bytes: Uint8Array): ProtobufBatch => {
    const batch = { ...createBatch(), spanPlaces: [], logPlaces: [] }
    return readRequest(readerOf(bytes), { batch, resources, skipsOrdinary })
  }
  const span: ProtobufDecoder['span'] = (bytes, start, end, { resource, scope }) => {
    const reader = readerOf(bytes)
    reader.pos = start
    return readSpan(reader, end, resource, scope, false)
  }
  const log: ProtobufDecoder['log'] = (bytes, start, end, { scope }) => {
    const reader = readerOf(bytes)
    reader.pos = start
    return readLog(reader, end, scope)
  }
  return Object.assign(decode, { span, log })
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
    if (field === 1) resource = readResource(reader, entryEnd, target.resources)
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

/** A sender describes itself in each request in the same bytes: the attributes of equal ones are one object, which nobody changes. */
function readResource(reader: Reader, end: number, resources: KnownResources): Attributes {
  if (end - reader.pos > MAX_RESOURCE_BYTES) return readAttributeList(reader, end, 1)
  const bytes = reader.source.toString('latin1', reader.pos, end)
  const known = resources.get(bytes)
  if (known !== undefined) return known
  const resource = readAttributeList(reader, end, 1)
  resources.set(bytes, resource)
  return resource
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
      batch.spanPlaces.push(start, end)
    }
  } else if (kind === 'log') {
    batch.logs.push(readLog(reader, end, scope))
    batch.logPlaces.push(start, end)
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

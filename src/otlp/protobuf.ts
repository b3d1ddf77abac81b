import { BoundedMap } from '../spans/bounded-map.ts'
import { shareResource } from '../spans/shared-resource.ts'
import { isNameOfDialect } from '../spans/recognition-hints.ts'
import { scopeKindOf } from '../spans/recognise.ts'
import { transportKeys } from '../spans/surrounding.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { createBatch } from './batch.ts'
import type { OtlpBatch } from './batch.ts'
import { readLog, readScope, readSpan } from './protobuf-records.ts'
import type { IdsOfSpan } from './protobuf-records.ts'
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

/** Field 1 of a `KeyValue`, its key: a string. */
const KEY_TAG = 0x0a

/** Fields that only spans or only log records have, by wire type and number. */
const KIND_OF_FIELD: Readonly<Record<number, Readonly<Record<number, 'span' | 'log'>>>> = {
  [VARINT]: { 2: 'log', 6: 'span', 7: 'log', 10: 'span', 12: 'span', 14: 'span' },
  [FIXED_64]: { 1: 'log', 7: 'span', 8: 'span', 11: 'log' },
  [FIXED_32]: { 8: 'log', 16: 'span' },
}

/** Options of the decoder. */
export interface ProtobufDecoderOptions {
  /**
   * Skips attributes and events of spans that no dialect can recognise, and whose attributes are about the transport. Only their place in the
   * trace is needed. @default false
   */
  readonly skipsOrdinary?: boolean
}

/** The contents of a request, and the position of each span and log record in its bytes. */
export interface ProtobufBatch extends OtlpBatch {
  /** The start and end of each span's message. */
  readonly spanPlaces: number[]
  /** The start and end of each log record's message. */
  readonly logPlaces: number[]
  /** Whether reading stopped at `maxEntries`, so that the contents are not complete. */
  isCut: boolean
}

/** Limits of a request, for requests of senders that are not trusted: a few bytes of it can become a large object. */
export interface DecodingLimits {
  /** Maximum number of resources, scopes, spans and log records together. Reading stops there. @default Infinity */
  readonly maxEntries: number
  /** Maximum bytes of one span or log record. The content of larger ones is not read. @default Infinity */
  readonly maxRecordBytes: number
}

const NO_LIMITS: DecodingLimits = { maxEntries: Number.POSITIVE_INFINITY, maxRecordBytes: Number.POSITIVE_INFINITY }

/** Decodes requests, and single spans and log records of a decoded request again. */
export interface ProtobufDecoder {
  (bytes: Uint8Array, limits?: DecodingLimits): ProtobufBatch
  /** Decodes single spans and log records of a decoded request again. */
  again(bytes: Uint8Array): DecodedAgain
}

/** A decoded request whose spans and log records can be decoded again. */
export interface DecodedAgain {
  /** Decodes the span between two positions, without its ids. */
  span(start: number, end: number, of: KnownSpan): SourceSpan | undefined
  /** Decodes the log record between two positions. */
  log(start: number, end: number, of: Pick<SourceLog, 'scope'>): SourceLog
}

/** What is already known of a span that is decoded again. */
export type KnownSpan = Pick<SourceSpan, 'resource' | 'scope'> & { readonly ids: IdsOfSpan }

/** Resources and scopes, by the bytes they were read from (one character per byte). */
interface Known {
  readonly resources: BoundedMap<string, Attributes>
  readonly scopes: BoundedMap<string, Scope>
}

/** More senders and scopes, and longer descriptions of them, than a process normally receives. */
const MAX_KNOWN = 1000
const MAX_KNOWN_BYTES = 4096

/** What to decode, and where to put it. */
interface Target {
  readonly batch: ProtobufBatch
  readonly known: Known
  readonly skipsOrdinary: boolean
  readonly maxRecordBytes: number
  /** How many more entries are read. */
  readonly room: { entries: number }
}

/** Ends the reading of a request with too many entries. */
class TooManyEntries extends Error {}

/**
 * Creates the decoder. It loads the protobuf wire reader when protobuf is first met, not with the package.
 *
 * The decoder knows the field numbers of `opentelemetry/proto` v1 (trace, logs, common, resource) and reads directly into the flat form,
 * without generated code or a descriptor.
 */
export async function createProtobufDecoder({
  skipsOrdinary = false,
}: ProtobufDecoderOptions = {}): Promise<ProtobufDecoder> {
  const { BinaryReader } = await import('@bufbuild/protobuf/wire')
  // A class, because Kafka's messages have few spans, and adding a property to an object costs as much as reading one of them.
  class SpanReader extends BinaryReader implements Reader {
    readonly source: Buffer

    constructor(source: Buffer) {
      super(source)
      this.source = source
    }
  }
  const readerOf = (bytes: Uint8Array): Reader =>
    new SpanReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const known: Known = { resources: new BoundedMap(MAX_KNOWN), scopes: new BoundedMap(MAX_KNOWN) }
  const decode = (bytes: Uint8Array, { maxEntries, maxRecordBytes } = NO_LIMITS): ProtobufBatch => {
    const batch = { ...createBatch(), spanPlaces: [], logPlaces: [], isCut: false }
    try {
      readRequest(readerOf(bytes), { batch, known, skipsOrdinary, maxRecordBytes, room: { entries: maxEntries } })
    } catch (error) {
      if (!(error instanceof TooManyEntries)) throw error
      batch.isCut = true
    }
    return batch
  }
  const again = (bytes: Uint8Array): DecodedAgain => {
    const reader = readerOf(bytes)
    return {
      span: (start, end, of) => {
        reader.pos = start
        return readSpan(reader, end, of, false)
      },
      log: (start, end, { scope }) => {
        reader.pos = start
        return readLog(reader, end, scope)
      },
    }
  }
  return Object.assign(decode, { again })
}

/** Reads `ExportTraceServiceRequest` or `ExportLogsServiceRequest`: field 1 is a repeated entry with a resource. */
function readRequest(reader: Reader, target: Target): void {
  eachField(reader, reader.len, (field, wireType) => {
    if (field !== 1 || wireType !== LENGTH_DELIMITED) return false
    takeRoom(target)
    readResourceEntry(reader, endOf(reader), target)
    return true
  })
}

function takeRoom({ room }: Target): void {
  room.entries -= 1
  if (room.entries < 0) throw new TooManyEntries()
}

/** Reads `ResourceSpans` or `ResourceLogs`: 1 is the resource, 2 the entries of each scope. */
function readResourceEntry(reader: Reader, end: number, target: Target): void {
  let resource: Attributes = {}
  const scopes: { start: number; end: number }[] = []
  eachField(reader, end, (field, wireType) => {
    if (wireType !== LENGTH_DELIMITED || field > 2) return false
    const entryEnd = endOf(reader)
    if (field === 1) resource = knownAt(reader, entryEnd, target.known.resources, readResource)
    else {
      takeRoom(target)
      scopes.push({ start: reader.pos, end: entryEnd })
    }
    reader.pos = entryEnd
    return true
  })
  for (const scope of scopes) {
    reader.pos = scope.start
    readScopeEntry(reader, scope.end, resource, target)
  }
  reader.pos = end
}

/** Reads the attributes of a resource: field 1, repeated. */
function readResource(reader: Reader, end: number): Attributes {
  return shareResource(readAttributeList(reader, end, 1))
}

/** A sender's resource and scopes have the same bytes in each request, so equal ones share one object, which must not be modified. */
function knownAt<T>(
  reader: Reader,
  end: number,
  known: BoundedMap<string, T>,
  read: (reader: Reader, end: number) => T,
): T {
  if (end - reader.pos > MAX_KNOWN_BYTES) return read(reader, end)
  const bytes = reader.source.toString('latin1', reader.pos, end)
  const found = known.get(bytes)
  if (found !== undefined) return found
  const value = read(reader, end)
  known.set(bytes, value)
  return value
}

/** Reads `ScopeSpans` or `ScopeLogs`: 1 is the scope, 2 the spans or log records. */
function readScopeEntry(reader: Reader, end: number, resource: Attributes, target: Target): void {
  let scope: Scope = { name: '' }
  const records: { start: number; end: number }[] = []
  eachField(reader, end, (field, wireType) => {
    if (wireType !== LENGTH_DELIMITED || field > 2) return false
    const entryEnd = endOf(reader)
    if (field === 1) scope = knownAt(reader, entryEnd, target.known.scopes, readScope)
    else {
      takeRoom(target)
      records.push({ start: reader.pos, end: entryEnd })
    }
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
 * Spans, log records and metrics have the same position in their requests. Writers choose the order of the fields (the Collector writes the
 * highest number first), so the record's kind is determined by any field with a number and wire type that only one of them has. Without
 * such a field, it is a metric if it has a field 1 (its name), and otherwise a log record without times.
 */
function readRecord(reader: Reader, end: number, resource: Attributes, scope: Scope, target: Target): void {
  const { batch, maxRecordBytes } = target
  const start = reader.pos
  const isTooLarge = end - start > maxRecordBytes
  const { kind, isOrdinary } = kindOf(reader, end, target.skipsOrdinary)
  reader.pos = start
  if (kind === 'span') {
    const span = readSpan(reader, end, { resource, scope }, isOrdinary || isTooLarge)
    if (span === undefined) batch.invalid++
    else {
      batch.spans.push(span)
      batch.spanPlaces.push(start, end)
    }
  } else if (kind === 'log') {
    batch.logs.push(
      isTooLarge ? { traceId: '', spanId: '', timeMs: 0, attributes: {}, scope } : readLog(reader, end, scope),
    )
    batch.logPlaces.push(start, end)
  }
  reader.pos = end
}

/** Reads as many fields of a record as needed to determine its kind. */
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
      isOrdinary = !(field === 5 ? isNameOfDialect : maySayMore)(reader.source, reader.pos, fieldEnd)
      reader.pos = fieldEnd
    } else skipField(reader, tag)
  }
  if (!hasFirstField && reader.pos >= end && end > start) kind ??= 'log'
  return { kind, isOrdinary }
}

/**
 * Whether an attribute may say something about a run: it is not about the transport. One whose key is not first in its message, or is long,
 * may. The bytes may be those of another field if the record is not a span.
 */
function maySayMore(bytes: Uint8Array, start: number, end: number): boolean {
  const length = bytes[start + 1] ?? 0
  if (bytes[start] !== KEY_TAG || length > 127) return true
  return !transportKeys.begin(bytes, start + 2, Math.min(start + 2 + length, end))
}

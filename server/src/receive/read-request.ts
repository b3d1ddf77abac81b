import { createProtobufDecoder, isContentLog, isSaid } from 'spanscore/engine'
import type {
  DecodedAgain,
  KnownSpan,
  OtlpBatch,
  ProtobufBatch,
  ProtobufDecoder,
  SourceLog,
  SourceSpan,
} from 'spanscore/engine'

import type { RecordBody, RecordBytes } from '../log/record-body.ts'
import type { DecodedRecord, NewRecord } from '../log/span-log.ts'
import { HeldSpan, logFactsOf } from '../traces/held-span.ts'
import { decompressAgain } from './decompress.ts'
import { parseJsonRequest, toProtobuf } from './json-to-protobuf.ts'
import { Refusal } from './refusal.ts'

/** The contents of an OTLP export request. */
export interface ReadRequest {
  readonly decoded: DecodedRecord
  /**
   * Spans or log records that were left out because they have no valid ids or are too large. Log records without a trace are not counted.
   */
  readonly invalid: number
  /** How many of them are too large. */
  readonly tooLarge: number
  readonly spans: number
  readonly logRecords: number
  /** Whether anything in it can be part of a run. */
  readonly isOfUse: boolean
  /** What users and other tools say of spans. */
  readonly said: readonly SourceLog[]
}

/** A record's spans and log records in body order. `undefined` for one that is left out. */
export interface SourceRecord {
  readonly spans: readonly (SourceSpan | undefined)[]
  /** Their indexes continue those of the spans. */
  readonly logs: readonly (SourceLog | undefined)[]
  /** Decoded bytes of the span or log record with an index. */
  readonly bytesOf: (index: number) => number
}

/** Limits of one request. */
export interface RecordLimits {
  /** Maximum number of spans or log records of one request. */
  readonly maxSpansPerRequest: number
  /** Maximum bytes of one span or log record. */
  readonly maxSpanBytes: number
}

/** The position of a span or log record in a body. */
interface Place {
  readonly start: number
  readonly end: number
}

/** The scope of spanscore's own output, which is never scored. */
const OWN_SCOPE = 'spanscore'

/** Values in JSON for each resource, scope, span or log record, on average: more than real ones have. */
const VALUES_OF_ENTRY = 70

/** Decodes the bodies of OTLP export requests. */
export class RequestReader {
  readonly #decode: ProtobufDecoder
  readonly #limits: RecordLimits

  private constructor(decode: ProtobufDecoder, limits: RecordLimits) {
    this.#decode = decode
    this.#limits = limits
  }

  /** @param skipsOrdinary whether to skip attributes of spans that no dialect can recognise, if that saves work */
  static async create(limits: RecordLimits, { skipsOrdinary = true } = {}): Promise<RequestReader> {
    return new RequestReader(await createProtobufDecoder({ skipsOrdinary }), limits)
  }

  /**
   * @param isOwn whether nothing else uses the bytes of the body
   * @throws Refusal if the body is not an OTLP request, or has too many records
   */
  read(body: Uint8Array, encoding: 'protobuf' | 'json', isOwn = false): ReadRequest {
    const { maxSpansPerRequest, maxSpanBytes } = this.#limits
    // Each span may have a scope and a resource of its own.
    const { batch, bytes, invalid } = this.#parse(body, encoding, isOwn, 3 * maxSpansPerRequest)
    const count = batch.spans.length + batch.logs.length
    if (batch.isCut || count + invalid > maxSpansPerRequest) {
      throw new Refusal(
        'too-large',
        `Expected at most ${maxSpansPerRequest} spans or log records in one request, got more.`,
      )
    }
    const tooLarge = this.#tooLarge(batch, bytes)
    if (tooLarge.size > 0 && tooLarge.size === count) {
      throw new Refusal('too-large', `Expected spans of at most ${maxSpanBytes} bytes each, got only larger ones.`)
    }
    const decoded = toDecoded(wantedOf(batch, tooLarge), bytes)
    return {
      decoded,
      invalid: invalid + tooLarge.size,
      tooLarge: tooLarge.size,
      spans: batch.spans.length,
      logRecords: batch.logs.length,
      isOfUse: decoded.spans.some(isThere) || decoded.logs.some(isThere),
      // Evaluations by users and other tools are kept; those of our scorers are known without their records.
      said: batch.logs.filter((log) => isSaid(log) && log.traceId !== '' && !tooLarge.has(log)),
    }
  }

  /**
   * Decodes a record from the log.
   *
   * @throws Refusal if the body is not an OTLP request
   */
  decode(record: NewRecord): DecodedRecord {
    const { batch, bytes } = this.#parseAgain(record)
    return toDecoded(wantedOf(batch, this.#tooLarge(batch, bytes)), bytes)
  }

  /**
   * Decodes a record from the log with all that its spans and log records contain.
   *
   * @throws Refusal if the body is not an OTLP request
   */
  sources(record: NewRecord): SourceRecord {
    const { batch, bytes } = this.#parseAgain(record)
    return {
      ...wantedOf(batch, this.#tooLarge(batch, bytes)),
      bytesOf: (index) => bytesAt(bytes, index),
    }
  }

  /**
   * Prepares a record that was read before for decoding single spans and log records.
   *
   * @throws Refusal if the body is not an OTLP request
   */
  bodyOf({ body, encoding, contentEncoding }: NewRecord): RecordBody {
    const read = decompressAgain(body, contentEncoding)
    const bytes = encoding === 'json' ? toProtobuf(parseJsonRequest(read)) : read
    return { bytes, holders: 0, isOwn: bytes !== body }
  }

  /**
   * Decodes the span at a position in a body.
   *
   * @throws Error if it cannot be decoded
   */
  span(body: RecordBody, { start, end }: Place, of: KnownSpan): SourceSpan | undefined {
    return this.#again(body).span(start, end, of)
  }

  /**
   * Decodes the log record at a position in a body.
   *
   * @throws Error if it cannot be decoded
   */
  log(body: RecordBody, { start, end, scope }: Pick<SourceLog, 'scope'> & Place): SourceLog {
    return this.#again(body).log(start, end, { scope })
  }

  #again(body: RecordBody): DecodedAgain {
    return (body.again ??= this.#decode.again(body.bytes))
  }

  /** If the whole request is within the limit of one record, none is too large. */
  #tooLarge({ spans, logs }: OtlpBatch, bytes: RecordBytes): ReadonlySet<SourceSpan | SourceLog> {
    const { maxSpanBytes } = this.#limits
    if (bytes.body.bytes.byteLength <= maxSpanBytes) return NONE
    const isTooLarge = (_: unknown, index: number) => bytesAt(bytes, index) > maxSpanBytes
    return new Set([...spans, ...logs].filter(isTooLarge))
  }

  #parseAgain({ body, encoding, contentEncoding }: NewRecord) {
    const read = decompressAgain(body, contentEncoding)
    return this.#parse(read, encoding, read !== body)
  }

  /** JSON is converted to protobuf first, so that all further code has one format. */
  #parse(
    body: Uint8Array,
    encoding: 'protobuf' | 'json',
    isOwn: boolean,
    maxEntries = Number.POSITIVE_INFINITY,
  ): { readonly batch: ProtobufBatch; readonly bytes: RecordBytes; readonly invalid: number } {
    const parsed = encoding === 'json' ? parseJsonRequest(body, maxEntries * VALUES_OF_ENTRY) : undefined
    const bytes = parsed === undefined ? body : toProtobuf(parsed)
    const batch = this.#parseProtobuf(bytes, maxEntries)
    const places = [...batch.spanPlaces, ...batch.logPlaces]
    return {
      batch,
      bytes: { body: { bytes, holders: 0, isOwn }, places },
      invalid: batch.invalid + (parsed?.invalid ?? 0),
    }
  }

  #parseProtobuf(body: Uint8Array, maxEntries: number): ProtobufBatch {
    try {
      return this.#decode(body, { maxEntries, maxRecordBytes: this.#limits.maxSpanBytes })
    } catch (error) {
      throw new Refusal(
        'malformed',
        `Expected an OTLP export request in protobuf, got ${body.byteLength} bytes that are none: ${messageOf(error)}.`,
      )
    }
  }
}

const NONE: ReadonlySet<SourceSpan | SourceLog> = new Set()

/** Bytes of the span or log record with an index. */
function bytesAt({ places }: RecordBytes, index: number): number {
  return (places[2 * index + 1] ?? 0) - (places[2 * index] ?? 0)
}

/** Every span and log record keeps its index, left out or not. */
function wantedOf(
  { spans, logs }: OtlpBatch,
  tooLarge: ReadonlySet<SourceSpan | SourceLog>,
): Omit<SourceRecord, 'bytesOf'> {
  const isWanted = (each: SourceSpan | SourceLog): boolean => each.scope.name !== OWN_SCOPE && !tooLarge.has(each)
  return {
    spans: spans.every(isWanted) ? spans : spans.map((span) => (isWanted(span) ? span : undefined)),
    logs: logs.map((log) =>
      isWanted(log) && log.traceId !== '' && log.spanId !== '' && isContentLog(log) ? log : undefined,
    ),
  }
}

function toDecoded({ spans, logs }: Omit<SourceRecord, 'bytesOf'>, bytes: RecordBytes): DecodedRecord {
  return {
    spans: spans.map((span) => span && new HeldSpan(span)),
    logs: logs.map((log) => log && logFactsOf(log)),
    bytes,
  }
}

function isThere(each: unknown): boolean {
  return each !== undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the reader failed'
}

import { createProtobufDecoder } from 'spanscore/engine'
import type {
  DecodedAgain,
  KnownSpan,
  OtlpBatch,
  ProtobufBatch,
  ProtobufDecoder,
  SourceLog,
  SourceSpan,
} from 'spanscore/engine'

import type { DecodedRecord, NewRecord, RecordBody, RecordBytes } from '../log/span-log.ts'
import { decompressAgain } from './decompress.ts'
import { parseJsonRequest, toProtobuf } from './json-to-protobuf.ts'
import { Refusal } from './refusal.ts'

/** What was read of the body of an OTLP export request. */
export interface ReadRequest {
  readonly decoded: DecodedRecord
  /** Spans or log records that were left out: without valid ids, or too large. Log records without a trace are not counted. */
  readonly invalid: number
  /** How many of them are too large. */
  readonly tooLarge: number
  readonly spans: number
  readonly logRecords: number
  /** Whether anything in it can be part of a run. */
  readonly isOfUse: boolean
}

/** What one request may hold. */
export interface RecordLimits {
  /** Spans, or log records, of one request. */
  readonly maxSpansPerRequest: number
  /** Bytes of one span or log record. */
  readonly maxSpanBytes: number
}

/** Where a span or a log record is in a body. */
interface Place {
  readonly start: number
  readonly end: number
}

/** The scope of what spanscore itself writes, which is never scored. */
const OWN_SCOPE = 'spanscore'

/** Decodes the bodies of OTLP export requests. */
export class RequestReader {
  readonly #decode: ProtobufDecoder
  readonly #limits: RecordLimits

  private constructor(decode: ProtobufDecoder, limits: RecordLimits) {
    this.#decode = decode
    this.#limits = limits
  }

  /** @param skipsOrdinary Whether attributes of spans that no dialect can recognise are left out, where that saves work. */
  static async create(limits: RecordLimits, { skipsOrdinary = true } = {}): Promise<RequestReader> {
    return new RequestReader(await createProtobufDecoder({ skipsOrdinary }), limits)
  }

  /**
   * @throws Refusal if the body is no OTLP request, or holds too many records
   */
  read(body: Uint8Array, encoding: 'protobuf' | 'json'): ReadRequest {
    const { batch, bytes, invalid } = this.#parse(body, encoding)
    const { maxSpansPerRequest, maxSpanBytes } = this.#limits
    const count = batch.spans.length + batch.logs.length
    if (count > maxSpansPerRequest) {
      throw new Refusal(
        'too-large',
        `Expected at most ${maxSpansPerRequest} spans or log records in one request, got ${count}.`,
      )
    }
    const tooLarge = this.#tooLarge(batch, bytes)
    if (tooLarge.size > 0 && tooLarge.size === count) {
      throw new Refusal('too-large', `Expected spans of at most ${maxSpanBytes} bytes each, got only larger ones.`)
    }
    const decoded = toDecoded(batch, tooLarge, bytes)
    return {
      decoded,
      invalid: invalid + tooLarge.size,
      tooLarge: tooLarge.size,
      spans: batch.spans.length,
      logRecords: batch.logs.length,
      isOfUse: decoded.spans.some(isThere) || decoded.logs.some(isThere),
    }
  }

  /**
   * Decodes a record that was read back from the log.
   *
   * @throws Refusal if the body is no OTLP request
   */
  decode({ body, encoding, contentEncoding }: NewRecord): DecodedRecord {
    const { batch, bytes } = this.#parse(decompressAgain(body, contentEncoding), encoding)
    return toDecoded(batch, this.#tooLarge(batch, bytes), bytes)
  }

  /**
   * What single spans and log records of a record are decoded from, which was read before.
   *
   * @throws Refusal if the body is no OTLP request
   */
  bodyOf({ body, encoding, contentEncoding }: NewRecord): RecordBody {
    const bytes = decompressAgain(body, contentEncoding)
    return { bytes: encoding === 'json' ? toProtobuf(parseJsonRequest(bytes)) : bytes, holders: 0 }
  }

  /**
   * The span at a place in a body.
   *
   * @throws Error if it does not decode
   */
  span(body: RecordBody, { start, end }: Place, of: KnownSpan): SourceSpan | undefined {
    return this.#again(body).span(start, end, of)
  }

  /**
   * The log record at a place in a body.
   *
   * @throws Error if it does not decode
   */
  log(body: RecordBody, { start, end, scope }: Pick<SourceLog, 'scope'> & Place): SourceLog {
    return this.#again(body).log(start, end, { scope })
  }

  #again(body: RecordBody): DecodedAgain {
    return (body.again ??= this.#decode.again(body.bytes))
  }

  /** In a request that is smaller than one record may be, none is too large. */
  #tooLarge({ spans, logs }: OtlpBatch, { body, places }: RecordBytes): ReadonlySet<SourceSpan | SourceLog> {
    const { maxSpanBytes } = this.#limits
    if (body.bytes.byteLength <= maxSpanBytes) return NONE
    const isTooLarge = (_: unknown, index: number) =>
      (places[2 * index + 1] ?? 0) - (places[2 * index] ?? 0) > maxSpanBytes
    return new Set([...spans, ...logs].filter(isTooLarge))
  }

  /** What comes in JSON is written in protobuf before anything else: there is one form of it from here on. */
  #parse(
    body: Uint8Array,
    encoding: 'protobuf' | 'json',
  ): { readonly batch: OtlpBatch; readonly bytes: RecordBytes; readonly invalid: number } {
    const parsed = encoding === 'json' ? parseJsonRequest(body) : undefined
    const bytes = parsed === undefined ? body : toProtobuf(parsed)
    const batch = this.#parseProtobuf(bytes)
    const places = [...batch.spanPlaces, ...batch.logPlaces]
    return { batch, bytes: { body: { bytes, holders: 0 }, places }, invalid: batch.invalid + (parsed?.invalid ?? 0) }
  }

  #parseProtobuf(body: Uint8Array): ProtobufBatch {
    try {
      return this.#decode(body)
    } catch (error) {
      throw new Refusal(
        'malformed',
        `Expected an OTLP export request in protobuf, got ${body.byteLength} bytes that are none: ${messageOf(error)}.`,
      )
    }
  }
}

const NONE: ReadonlySet<SourceSpan | SourceLog> = new Set()

/** Every span and log record keeps its index, whether it is left out or not. */
function toDecoded(batch: OtlpBatch, tooLarge: ReadonlySet<SourceSpan | SourceLog>, bytes: RecordBytes): DecodedRecord {
  const { spans, logs } = batch
  const isWanted = (each: SourceSpan | SourceLog): boolean => each.scope.name !== OWN_SCOPE && !tooLarge.has(each)
  return {
    spans: spans.every(isWanted) ? spans : spans.map((span) => (isWanted(span) ? span : undefined)),
    logs: logs.map((log) => (isWanted(log) && log.traceId !== '' && log.spanId !== '' ? log : undefined)),
    bytes,
  }
}

function isThere(each: unknown): boolean {
  return each !== undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the reader failed'
}

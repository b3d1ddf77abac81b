import { createProtobufDecoder, readOtlpJson } from 'spanscore/engine'
import type { OtlpBatch, SourceLog, SourceSpan } from 'spanscore/engine'

import type { DecodedSpans, NewRecord, Signal } from '../log/span-log.ts'
import { Refusal } from './refusal.ts'
import { splitProtobuf } from './split-request.ts'

/** What an OTLP export request holds, by trace. */
export interface ReadRequest {
  readonly records: readonly NewRecord[]
  /** Spans or log records that were left out: without valid ids, or too large. Log records without a trace are not counted. */
  readonly invalid: number
  readonly spans: number
}

/** What one request may hold. */
export interface RecordLimits {
  /** Spans, or log records, of one request. */
  readonly maxSpansPerRequest: number
  /** Characters of the texts of one span or log record. */
  readonly maxSpanBytes: number
}

/** The scope of what spanscore itself writes, which is never scored. */
const OWN_SCOPE = 'spanscore'

/** Decodes the bodies of OTLP export requests. */
export class RequestReader {
  readonly #decode: (bytes: Uint8Array) => OtlpBatch
  readonly #limits: RecordLimits

  private constructor(decode: (bytes: Uint8Array) => OtlpBatch, limits: RecordLimits) {
    this.#decode = decode
    this.#limits = limits
  }

  static async create(limits: RecordLimits): Promise<RequestReader> {
    return new RequestReader(await createProtobufDecoder(), limits)
  }

  /**
   * @throws Refusal where the body is no OTLP request, or holds too many records
   */
  read(body: Uint8Array, encoding: 'protobuf' | 'json', signal: Signal): ReadRequest {
    const batch = encoding === 'json' ? parseJson(body) : this.#parseProtobuf(body)
    const { maxSpansPerRequest, maxSpanBytes } = this.#limits
    const count = batch.spans.length + batch.logs.length
    if (count > maxSpansPerRequest) {
      throw new Refusal(
        'too-large',
        `Expected at most ${maxSpansPerRequest} spans or log records in one request, got ${count}.`,
      )
    }
    // In a request that is smaller than one record may be, none is too large.
    const isSmall = (each: SourceSpan | SourceLog) =>
      body.byteLength <= maxSpanBytes || sizeOf(each, maxSpanBytes) <= maxSpanBytes
    const spans = batch.spans.filter(isSmall)
    const logs = batch.logs.filter(isSmall)
    const tooLarge = count - spans.length - logs.length
    if (tooLarge > 0 && tooLarge === count) {
      throw new Refusal('too-large', `Expected spans of at most ${maxSpanBytes} bytes each, got only larger ones.`)
    }
    const ofTraces = logs.filter((log) => log.traceId !== '' && log.spanId !== '')
    return {
      records: this.#toRecords(body, encoding, signal, spans.filter(isForeign), ofTraces.filter(isForeign)),
      invalid: batch.invalid + tooLarge,
      spans: batch.spans.length,
    }
  }

  /** Decodes a record that was read back from the log. */
  decode({
    payload,
    encoding,
    traceId,
    retired,
  }: NewRecord & { readonly retired?: ReadonlySet<string> }): DecodedSpans {
    const batch = encoding === 'json' ? parseJson(payload) : this.#parseProtobuf(payload)
    const isWanted = (each: { traceId: string; spanId: string; scope: { name: string } }) =>
      each.traceId === traceId && each.scope.name !== OWN_SCOPE && retired?.has(each.spanId) !== true
    return { spans: batch.spans.filter(isWanted), logs: batch.logs.filter(isWanted) }
  }

  #parseProtobuf(body: Uint8Array): OtlpBatch {
    try {
      return this.#decode(body)
    } catch (error) {
      throw new Refusal(
        'malformed',
        `Expected an OTLP export request in protobuf, got ${body.byteLength} bytes that are none: ${messageOf(error)}.`,
      )
    }
  }

  #toRecords(
    body: Uint8Array,
    encoding: 'protobuf' | 'json',
    signal: Signal,
    spans: readonly SourceSpan[],
    logs: readonly SourceLog[],
  ): NewRecord[] {
    if (spans.length + logs.length === 0) return []
    const spansOf = Map.groupBy(spans, (span) => span.traceId)
    const logsOf = Map.groupBy(logs, (log) => log.traceId)
    const traceIds = new Set([...spansOf.keys(), ...logsOf.keys()])
    const payloads = payloadsOf(body, encoding, signal, traceIds)
    return [...traceIds].map((traceId) => ({
      traceId,
      signal,
      encoding,
      payload: payloads.get(traceId) ?? body,
      decoded: { spans: spansOf.get(traceId) ?? [], logs: logsOf.get(traceId) ?? [] },
    }))
  }
}

function isForeign({ scope }: SourceSpan | SourceLog): boolean {
  return scope.name !== OWN_SCOPE
}

function payloadsOf(
  body: Uint8Array,
  encoding: 'protobuf' | 'json',
  signal: Signal,
  traceIds: ReadonlySet<string>,
): ReadonlyMap<string, Uint8Array> {
  if (traceIds.size === 1) return new Map()
  return encoding === 'protobuf' ? splitProtobuf(body, signal) : splitJson(body, traceIds)
}

/** JSON is written again for each trace, with the records of that trace alone. */
function splitJson(body: Uint8Array, traceIds: ReadonlySet<string>): ReadonlyMap<string, Uint8Array> {
  const text = new TextDecoder().decode(body)
  return new Map(
    [...traceIds].map((traceId) => [
      traceId,
      new TextEncoder().encode(JSON.stringify(onlyTrace(JSON.parse(text), traceId))),
    ]),
  )
}

function onlyTrace(value: unknown, traceId: string): unknown {
  if (Array.isArray(value))
    return value.filter((item) => isOfTrace(item, traceId)).map((item: unknown) => onlyTrace(item, traceId))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]: [string, unknown]) => [
      key,
      LISTS.has(key) ? onlyTrace(child, traceId) : child,
    ]),
  )
}

const LISTS = new Set(['resourceSpans', 'scopeSpans', 'spans', 'resourceLogs', 'scopeLogs', 'logRecords'])

/** True for everything that is no span or log record. */
function isOfTrace(item: unknown, traceId: string): boolean {
  if (typeof item !== 'object' || item === null || !('spanId' in item) || !('traceId' in item)) return true
  const { traceId: own } = item
  if (typeof own !== 'string') return false
  const hex = own.length === 32 ? own.toLowerCase() : Buffer.from(own, 'base64').toString('hex')
  return hex === traceId
}

function parseJson(body: Uint8Array): OtlpBatch {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    throw new Refusal(
      'malformed',
      `Expected an OTLP export request in JSON, got text that is none: ${positionOf(error)}.`,
    )
  }
  const batch = readOtlpJson(value)
  if (batch === undefined) {
    throw new Refusal('malformed', 'Expected an object with resourceSpans or resourceLogs, got JSON without either.')
  }
  return batch
}

/** The parser's message quotes the text, which may be content: only the place is passed on. */
function positionOf(error: unknown): string {
  const [position] = /position \d+/.exec(messageOf(error)) ?? []
  return position === undefined ? 'it does not parse' : `it does not parse at ${position}`
}

/** Characters of all texts in a value; counting ends above the limit. */
function sizeOf(value: unknown, limit: number): number {
  let size = 0
  const waiting = [value]
  while (waiting.length > 0 && size <= limit) {
    const next = waiting.pop()
    if (typeof next === 'string') size += next.length
    else if (typeof next === 'object' && next !== null) for (const child of Object.values(next)) waiting.push(child)
  }
  return size
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the reader failed'
}

import { SpanKind } from '@opentelemetry/api'
import type { HrTime, SpanContext } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import { EVENT_NAME, INFO, SCOPE_NAME, SCOPE_VERSION, severityOf } from 'spanscore/engine'
import type { PreparedScore, Severity } from 'spanscore/engine'

import { OtlpWriter } from '../otlp/otlp-writer.ts'

/** A log record or a span in protobuf. Bytes cost the garbage collector nothing while they wait for acknowledgement. */
export interface EncodedRecord {
  readonly origin: RecordOrigin
  readonly bytes: Uint8Array
}

/** How OTLP groups records, in protobuf: `Resource` and `InstrumentationScope`. */
export interface RecordOrigin {
  readonly resource: Uint8Array
  readonly scope: Uint8Array
}

/** Records to deliver. */
export interface GatheredRecords {
  readonly logRecords: readonly EncodedRecord[]
  readonly spans: readonly EncodedRecord[]
}

/** Field numbers of the attributes of a log record and of a span. */
const OF_LOG_RECORD = 6
const OF_SPAN = 9

/** Each record is written synchronously on one thread, so one writer is enough. */
const writer = new OtlpWriter()

/**
 * Encodes scores for delivery. The SDK's providers check and copy every attribute, and its serializers walk through the copies twice more.
 * Most attributes of a late span are also those of its event, and are only written once.
 */
export class GatheredScores {
  #logRecords: EncodedRecord[] = []
  #spans: EncodedRecord[] = []

  /**
   * Writes the event and the late span of a score.
   *
   * @throws Error if a late span has no id
   */
  add(origin: RecordOrigin, score: PreparedScore): void {
    const written = score.isEvent ? this.#addLogRecord(origin, score) : undefined
    if (score.isLateSpan) this.#addSpan(origin, score, written)
  }

  /** Returns and removes all written records. */
  take(): GatheredRecords {
    const taken = { logRecords: this.#logRecords, spans: this.#spans }
    this.#logRecords = []
    this.#spans = []
    return taken
  }

  /** Writes a `LogRecord`. @returns its encoded attributes */
  #addLogRecord(
    origin: RecordOrigin,
    { evaluation, target, endTime, attributes, verdictTimeMs }: PreparedScore,
  ): Uint8Array {
    const severity = severityOf(evaluation)
    // A conversation has no span.
    const place = evaluation.scorer.level === 'conversation' ? { ...target, spanId: undefined } : target
    const { start, end } = writeEvent({ target: place, time: endTime, observedMs: verdictTimeMs, severity, attributes })
    const bytes = writer.take()
    this.#logRecords.push({ origin, bytes })
    return bytes.subarray(start, end)
  }

  /**
   * Writes a `Span`: a child of the span of the run or of the call, that starts and ends at the run's end, so that the trace does not become longer.
   *
   * @param written the event's encoded attributes, if it was written
   */
  #addSpan(origin: RecordOrigin, score: PreparedScore, written: Uint8Array | undefined): void {
    const { evaluation, target, endTime, lateSpanId, attributes, ofLateSpan } = score
    // The same score has the same span id wherever it is computed.
    if (lateSpanId === undefined) throw new Error('Expected an id for a late span.')
    writer.id(1, target.traceId)
    writer.id(2, lateSpanId)
    writer.id(4, target.spanId)
    writer.string(5, `evaluate ${evaluation.scorer.id}`)
    // OTLP counts kinds from 1; 0 means unspecified.
    writer.integer(6, SpanKind.INTERNAL + 1)
    writer.time(7, endTime)
    writer.time(8, endTime)
    writer.attributes(OF_SPAN, ofLateSpan, attributes)
    if (written === undefined) writer.attributes(OF_SPAN, attributes)
    else writer.again(OF_SPAN, written)
    writer.fixed32(16, target.traceFlags + HAS_IS_REMOTE + (target.isRemote === true ? IS_REMOTE : 0))
    this.#spans.push({ origin, bytes: writer.take() })
  }
}

/** The `LogRecord` of something that was said of a span at a time. */
export function encodeEvent({
  target,
  timeMs,
  attributes,
}: {
  readonly target: SpanContext
  readonly timeMs: number
  readonly attributes: PreparedScore['attributes']
}): Uint8Array {
  writeEvent({ target, time: toHrTime(timeMs), observedMs: timeMs, severity: INFO, attributes })
  return writer.take()
}

/** @returns where the encoded attributes are */
function writeEvent({
  target,
  time,
  observedMs,
  severity,
  attributes,
}: {
  readonly target: Pick<SpanContext, 'traceId' | 'traceFlags'> & { readonly spanId: string | undefined }
  readonly time: PreparedScore['endTime']
  readonly observedMs: number
  readonly severity: Severity
  readonly attributes: PreparedScore['attributes']
}): { readonly start: number; readonly end: number } {
  writer.time(1, time)
  writer.integer(2, severity.severityNumber)
  writer.string(3, severity.severityText)
  const start = writer.length
  writer.attributes(OF_LOG_RECORD, attributes)
  const end = writer.length
  writer.fixed32(8, target.traceFlags)
  writer.id(9, target.traceId)
  if (target.spanId !== undefined) writer.id(10, target.spanId)
  writer.time(11, toHrTime(observedMs))
  writer.string(12, EVENT_NAME)
  return { start, end }
}

/** Flags of a span: whether it is known if the parent is remote, and whether it is. */
const HAS_IS_REMOTE = 0x100
const IS_REMOTE = 0x200

/** The resource and scope of the scores of a service's process. */
export function originOf({ attributes }: Resource): RecordOrigin {
  writer.attributes(1, attributes)
  const resource = writer.take()
  writer.string(1, SCOPE_NAME)
  writer.string(2, SCOPE_VERSION)
  return { resource, scope: writer.take() }
}

/**
 * Encodes an `ExportTraceServiceRequest` or `ExportLogsServiceRequest`, which have the same shape. Consecutive records of one origin share
 * an entry.
 */
export function encodeRequest(records: readonly EncodedRecord[]): Uint8Array {
  let at = 0
  while (at < records.length) {
    const origin = records[at]?.origin
    if (origin === undefined) break
    const entry = writer.begin(1)
    writer.bytes(1, origin.resource)
    const ofScope = writer.begin(2)
    writer.bytes(1, origin.scope)
    for (let next = records[at]; next?.origin === origin; next = records[++at]) writer.bytes(2, next.bytes)
    writer.end(ofScope)
    writer.end(entry)
  }
  return writer.take()
}

function toHrTime(ms: number): HrTime {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

import { SpanKind } from '@opentelemetry/api'
import type { HrTime } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import { SCOPE_NAME, SCOPE_VERSION } from 'spanscore/engine'
import type { PreparedScore } from 'spanscore/engine'

import { OtlpWriter } from '../otlp/otlp-writer.ts'

/** A log record or a span in protobuf. As bytes they cost the garbage collector nothing while they wait to be acknowledged. */
export interface EncodedRecord {
  readonly origin: RecordOrigin
  readonly bytes: Uint8Array
}

/** What OTLP groups records by, in protobuf: `Resource` and `InstrumentationScope`. */
export interface RecordOrigin {
  readonly resource: Uint8Array
  readonly scope: Uint8Array
}

/** Records on their way out. */
export interface GatheredRecords {
  readonly logRecords: readonly EncodedRecord[]
  readonly spans: readonly EncodedRecord[]
}

const INFO = 9
const WARN = 13

/** Fields of the attributes of a log record and of a span. */
const OF_LOG_RECORD = 6
const OF_SPAN = 9

/** All of it is written on one thread, each record at one go. */
const writer = new OtlpWriter()

/**
 * Scores in the form in which they are sent. The SDK's own providers check and copy every attribute, which spanscore has made, and
 * its serializers walk through the copies twice more. Most attributes of a late span are those of its event: they are written once.
 */
export class GatheredScores {
  #logRecords: EncodedRecord[] = []
  #spans: EncodedRecord[] = []

  /**
   * Writes the event and the late span of a score.
   *
   * @throws Error where a late span has no id
   */
  add(origin: RecordOrigin, score: PreparedScore): void {
    const written = score.isEvent ? this.#addLogRecord(origin, score) : undefined
    if (score.isLateSpan) this.#addSpan(origin, score, written)
  }

  /** Takes out what was written since the last time. */
  take(): GatheredRecords {
    const taken = { logRecords: this.#logRecords, spans: this.#spans }
    this.#logRecords = []
    this.#spans = []
    return taken
  }

  /** `LogRecord`. @returns Its attributes as they were written */
  #addLogRecord(origin: RecordOrigin, { emission, attributes, verdictTimeMs }: PreparedScore): Uint8Array {
    const { target, endTime, evaluation } = emission
    const failed = evaluation.score.status === 'failed'
    writer.time(1, endTime)
    writer.integer(2, failed ? WARN : INFO)
    writer.string(3, failed ? 'WARN' : 'INFO')
    const start = writer.length
    writer.attributes(OF_LOG_RECORD, attributes)
    const end = writer.length
    writer.fixed32(8, target.traceFlags)
    writer.id(9, target.traceId)
    writer.id(10, target.spanId)
    writer.time(11, toHrTime(verdictTimeMs))
    writer.string(12, 'gen_ai.evaluation.result')
    const bytes = writer.take()
    this.#logRecords.push({ origin, bytes })
    return bytes.subarray(start, end)
  }

  /**
   * `Span`: a child of the run's span that starts and ends when the run ended, so that the trace does not become longer.
   *
   * @param written Attributes of the event, where it was written.
   */
  #addSpan(origin: RecordOrigin, score: PreparedScore, written: Uint8Array | undefined): void {
    const { emission, attributes, ofLateSpan } = score
    const { target, endTime, evaluation, identity } = emission
    // The same score is the same span wherever it is computed.
    if (identity === undefined) throw new Error('Expected an id for a late span.')
    writer.id(1, target.traceId)
    writer.id(2, identity.spanId)
    writer.id(4, target.spanId)
    writer.string(5, `evaluate ${evaluation.scorer.id}`)
    // OTLP counts kinds from 1; 0 is none.
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

/** Flags of a span: whether it is known that its parent is remote, and whether it is. */
const HAS_IS_REMOTE = 0x100
const IS_REMOTE = 0x200

/** What the scores of a service's process are grouped by. */
export function originOf({ attributes }: Resource): RecordOrigin {
  writer.attributes(1, attributes)
  const resource = writer.take()
  writer.string(1, SCOPE_NAME)
  writer.string(2, SCOPE_VERSION)
  return { resource, scope: writer.take() }
}

/**
 * `ExportTraceServiceRequest` and `ExportLogsServiceRequest`, which have the same shape. Records that follow each other and have one
 * origin share an entry.
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

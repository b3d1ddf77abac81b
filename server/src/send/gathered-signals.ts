import { SpanKind, trace } from '@opentelemetry/api'
import type { Context, HrTime, Span, SpanContext, Tracer, TracerProvider } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'

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

/** Records on their way out, gathered while one run is written. */
export interface GatheredRecords {
  readonly logRecords: readonly EncodedRecord[]
  readonly spans: readonly EncodedRecord[]
}

/** A log record, as the emitter gives it. */
interface EmittedRecord {
  readonly eventName: string
  readonly severityNumber: number
  readonly severityText: string
  readonly timestamp: HrTime
  readonly observedTimestamp: number
  readonly context: Context
  readonly attributes: Record<string, string | number | boolean>
}

type Attributes = Readonly<Record<string, unknown>>

/** All of it is written on one thread, each record at one go. */
const writer = new OtlpWriter()

/**
 * A logger and a tracer provider that write what they are given in the form in which it is sent. The SDK's own providers check and
 * copy every attribute, which the emitter has made, and its serializers walk through the copies twice more.
 */
export class GatheredSignals {
  readonly #resource: Uint8Array
  readonly #origins = new Map<string, RecordOrigin>()
  readonly #tracers = new Map<RecordOrigin, Tracer>()
  #logRecords: EncodedRecord[] = []
  #spans: EncodedRecord[] = []
  #nextSpanId = ''

  /** @param resource Of the service that is written for. */
  constructor({ attributes }: Resource) {
    writer.attributes(1, attributes)
    this.#resource = writer.take()
  }

  readonly loggerProvider = {
    getLogger: (name: string, version?: string) => {
      const origin = this.#originOf(name, version)
      return { emit: (record: EmittedRecord) => this.#addLogRecord(record, origin) }
    },
  }

  readonly tracerProvider: TracerProvider = {
    getTracer: (name, version) => this.#tracerOf(this.#originOf(name, version)),
  }

  /** Ids of late spans follow from their scores: the same score is the same span wherever it is computed. */
  nextSpanId(spanId: string): void {
    this.#nextSpanId = spanId
  }

  /** Whether all that was written has been taken out. */
  get isEmpty(): boolean {
    return this.#logRecords.length === 0 && this.#spans.length === 0
  }

  /** Takes out what was written since the last time. */
  take(): GatheredRecords {
    const taken = { logRecords: this.#logRecords, spans: this.#spans }
    this.#logRecords = []
    this.#spans = []
    return taken
  }

  /** `LogRecord`. */
  #addLogRecord(record: EmittedRecord, origin: RecordOrigin): void {
    const { eventName, severityNumber, severityText, timestamp, observedTimestamp, attributes } = record
    const target = trace.getSpanContext(record.context)
    writer.time(1, timestamp)
    writer.integer(2, severityNumber)
    writer.string(3, severityText)
    writer.attributes(6, attributes)
    if (target !== undefined) {
      writer.fixed32(8, target.traceFlags)
      writer.id(9, target.traceId)
      writer.id(10, target.spanId)
    }
    writer.time(11, toHrTime(observedTimestamp))
    writer.string(12, eventName)
    this.#logRecords.push({ origin, bytes: writer.take() })
  }

  #tracerOf(origin: RecordOrigin): Tracer {
    const known = this.#tracers.get(origin)
    if (known !== undefined) return known
    const tracer: Tracer = {
      startSpan: (name, options, context) => {
        const parent = context === undefined ? undefined : trace.getSpanContext(context)
        const spanId = this.#nextSpanId
        if (parent === undefined || spanId === '') throw new Error('Expected a parent and an id for a late span.')
        this.#nextSpanId = ''
        return this.#startSpan(name, spanId, parent, origin, options?.attributes ?? {})
      },
      startActiveSpan: () => {
        throw new Error('Late spans are never active.')
      },
    }
    this.#tracers.set(origin, tracer)
    return tracer
  }

  #startSpan(name: string, spanId: string, parent: SpanContext, origin: RecordOrigin, attributes: Attributes): Span {
    const { traceId, traceFlags } = parent
    const span = trace.wrapSpanContext({ traceId, spanId, traceFlags })
    span.end = (endTime) => {
      const time = Array.isArray(endTime) ? endTime : toHrTime(Date.now())
      this.#addSpan(name, spanId, parent, time, attributes, origin)
    }
    return span
  }

  /** `Span`: it starts and ends at the same time. */
  #addSpan(
    name: string,
    spanId: string,
    parent: SpanContext,
    time: HrTime,
    attributes: Attributes,
    origin: RecordOrigin,
  ): void {
    writer.id(1, parent.traceId)
    writer.id(2, spanId)
    writer.id(4, parent.spanId)
    writer.string(5, name)
    // OTLP counts kinds from 1; 0 is none.
    writer.integer(6, SpanKind.INTERNAL + 1)
    writer.time(7, time)
    writer.time(8, time)
    writer.attributes(9, attributes)
    writer.fixed32(16, parent.traceFlags + HAS_IS_REMOTE + (parent.isRemote === true ? IS_REMOTE : 0))
    this.#spans.push({ origin, bytes: writer.take() })
  }

  /** `InstrumentationScope`. */
  #originOf(name: string, version = ''): RecordOrigin {
    const key = `${name}\n${version}`
    const known = this.#origins.get(key)
    if (known !== undefined) return known
    writer.string(1, name)
    if (version !== '') writer.string(2, version)
    const origin = { resource: this.#resource, scope: writer.take() }
    this.#origins.set(key, origin)
    return origin
  }
}

/** Flags of a span: whether it is known that its parent is remote, and whether it is. */
const HAS_IS_REMOTE = 0x100
const IS_REMOTE = 0x200

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

import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Context, HrTime, Span, SpanContext, Tracer, TracerProvider } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'

/** Records on their way out, gathered while one run is written. */
export interface GatheredRecords {
  readonly logRecords: ReadableLogRecord[]
  readonly spans: ReadableSpan[]
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

/**
 * A logger and a tracer provider that keep what is written, in the form in which the official exporters take it. The SDK's own
 * providers check and copy every attribute, which the emitter has made, and cost as much as scoring.
 */
export class GatheredSignals {
  readonly #resource: Resource
  #logRecords: ReadableLogRecord[] = []
  #spans: ReadableSpan[] = []
  #nextSpanId = ''

  constructor(resource: Resource) {
    this.#resource = resource
  }

  readonly loggerProvider = {
    getLogger: (name: string, version?: string) => {
      const scope = scopeOf(name, version)
      return { emit: (record: EmittedRecord) => this.#addLogRecord(record, scope) }
    },
  }

  readonly tracerProvider: TracerProvider = {
    getTracer: (name, version) => this.#tracerOf(name, version),
  }

  readonly #tracers = new Map<string, Tracer>()

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

  #addLogRecord(record: EmittedRecord, instrumentationScope: ReadableSpan['instrumentationScope']): void {
    const { eventName, severityNumber, severityText, attributes } = record
    const spanContext = trace.getSpanContext(record.context)
    this.#logRecords.push({
      hrTime: record.timestamp,
      hrTimeObserved: toHrTime(record.observedTimestamp),
      eventName,
      severityNumber,
      severityText,
      ...(spanContext !== undefined && { spanContext }),
      resource: this.#resource,
      instrumentationScope,
      attributes,
      droppedAttributesCount: 0,
    })
  }

  #tracerOf(name: string, version: string | undefined): Tracer {
    const key = `${name}\n${version ?? ''}`
    const known = this.#tracers.get(key)
    if (known !== undefined) return known
    const scope = scopeOf(name, version)
    const tracer: Tracer = {
      startSpan: (spanName, options, context) => {
        const parent = context === undefined ? undefined : trace.getSpanContext(context)
        const spanId = this.#nextSpanId
        if (parent === undefined || spanId === '') throw new Error('Expected a parent and an id for a late span.')
        this.#nextSpanId = ''
        const own = { traceId: parent.traceId, spanId, traceFlags: parent.traceFlags }
        return this.#startSpan(spanName, own, parent, scope, options?.attributes ?? {})
      },
      startActiveSpan: () => {
        throw new Error('Late spans are never active.')
      },
    }
    this.#tracers.set(key, tracer)
    return tracer
  }

  #startSpan(
    name: string,
    own: SpanContext,
    parentSpanContext: SpanContext,
    instrumentationScope: ReadableSpan['instrumentationScope'],
    attributes: ReadableSpan['attributes'],
  ): Span {
    const span = trace.wrapSpanContext(own)
    span.end = (endTime) => {
      const time = Array.isArray(endTime) ? endTime : toHrTime(Date.now())
      this.#spans.push({
        name,
        kind: SpanKind.INTERNAL,
        spanContext: () => own,
        parentSpanContext,
        startTime: time,
        endTime: time,
        status: { code: SpanStatusCode.UNSET },
        attributes,
        links: [],
        events: [],
        duration: [0, 0],
        ended: true,
        resource: this.#resource,
        instrumentationScope,
        droppedAttributesCount: 0,
        droppedEventsCount: 0,
        droppedLinksCount: 0,
      })
    }
    return span
  }
}

function scopeOf(name: string, version: string | undefined): ReadableSpan['instrumentationScope'] {
  return version === undefined ? { name } : { name, version }
}

function toHrTime(ms: number): HrTime {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

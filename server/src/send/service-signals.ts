import type { MeterProvider as MeterProviderLike, TracerProvider } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { Resource } from '@opentelemetry/resources'
import { LoggerProvider } from '@opentelemetry/sdk-logs'
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { AlwaysOnSampler, BasicTracerProvider, RandomIdGenerator } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'

import type { Destination } from './acknowledged-exporter.ts'

/** Records on their way out, gathered while one run is written. */
export interface GatheredRecords {
  readonly logRecords: ReadableLogRecord[]
  readonly spans: ReadableSpan[]
}

/** The providers of one service: what they make carries its resource. */
export interface ServiceSignals {
  readonly loggerProvider: LoggerProvider
  readonly tracerProvider: TracerProvider
  readonly meterProvider: MeterProviderLike
  /** Id of the next span that is made. */
  nextSpanId(spanId: string): void
  /** Takes out what was made since the last time. */
  take(): GatheredRecords
  shutdown(): Promise<void>
}

/** How often metrics are sent, in milliseconds. */
const METRICS_EVERY_MS = 10_000

/** Makes the providers of a service from the attributes of its resource. */
export function createServiceSignals(
  attributes: Readonly<Record<string, unknown>>,
  metricsTo: Destination | undefined,
): ServiceSignals {
  const resource = toResource(attributes)
  let logRecords: ReadableLogRecord[] = []
  let spans: ReadableSpan[] = []
  const ids = new FixedIds()
  const loggerProvider = new LoggerProvider({
    resource,
    processors: [
      {
        onEmit: (record) => void logRecords.push(record),
        forceFlush: () => Promise.resolve(),
        shutdown: () => Promise.resolve(),
      },
    ],
  })
  const tracerProvider = new BasicTracerProvider({
    resource,
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    spanProcessors: [
      {
        onStart: () => undefined,
        onEnd: (span) => void spans.push(span),
        forceFlush: () => Promise.resolve(),
        shutdown: () => Promise.resolve(),
      },
    ],
  })
  const meterProvider = new MeterProvider({
    resource,
    readers: metricsTo === undefined ? [] : [metricReader(metricsTo)],
  })
  return {
    loggerProvider,
    tracerProvider,
    meterProvider,
    nextSpanId: (spanId) => {
      ids.next = spanId
    },
    take: () => {
      const taken = { logRecords, spans }
      logRecords = []
      spans = []
      return taken
    },
    shutdown: async () => {
      await meterProvider.shutdown().catch(() => undefined)
    },
  }
}

/** Ids of late spans follow from their scores, so that the same score is the same span wherever it is computed. */
class FixedIds extends RandomIdGenerator {
  next: string | undefined

  constructor() {
    super()
    const random = this.generateSpanId
    this.generateSpanId = () => {
      const fixed = this.next
      this.next = undefined
      return fixed ?? random()
    }
  }
}

function metricReader({ url, headers, ca, timeoutMs }: Destination): PeriodicExportingMetricReader {
  return new PeriodicExportingMetricReader({
    exportIntervalMillis: METRICS_EVERY_MS,
    exportTimeoutMillis: Math.min(timeoutMs, METRICS_EVERY_MS),
    exporter: new OTLPMetricExporter({
      url: `${url.replace(/\/$/, '')}/v1/metrics`,
      headers: { ...headers },
      timeoutMillis: timeoutMs,
      ...(ca !== undefined && { httpAgentOptions: { ca, keepAlive: true } }),
    }),
  })
}

type AttributeValue = string | number | boolean | string[] | number[] | boolean[]

function toResource(attributes: Readonly<Record<string, unknown>>): Resource {
  return resourceFromAttributes(
    Object.fromEntries(
      Object.entries(attributes).filter((entry): entry is [string, AttributeValue] => isAttribute(entry[1])),
    ),
  )
}

function isAttribute(value: unknown): value is AttributeValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === typeof value[0] && isAttribute(item))
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

import type { MeterProvider as MeterProviderLike } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { Resource } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'

import type { Destination } from './acknowledged-exporter.ts'
import { GatheredSignals } from './gathered-signals.ts'

/** What is written for one service: all of it carries the service's resource. */
export interface ServiceSignals {
  /** Log records and late spans. */
  readonly records: GatheredSignals
  readonly meterProvider: MeterProviderLike
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
  const meterProvider = new MeterProvider({
    resource,
    readers: metricsTo === undefined ? [] : [metricReader(metricsTo)],
  })
  return {
    records: new GatheredSignals(resource),
    meterProvider,
    shutdown: async () => {
      await meterProvider.shutdown().catch(() => undefined)
    },
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

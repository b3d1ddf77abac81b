import type { MeterProvider as MeterProviderLike } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'

import type { Destination } from './acknowledged-exporter.ts'
import { toResource } from './to-resource.ts'

/** Metrics on their way out. */
export interface MeterOutput {
  readonly meterProvider: MeterProviderLike
  /** Sends what was counted, and ends. */
  shutdown(): Promise<void>
}

/** How often metrics are sent, in milliseconds. */
const METRICS_EVERY_MS = 10_000

/** Attributes that distinguish processes of one service. */
const OF_A_PROCESS =
  /^(?:service\.instance\.id$|(?:host|process|container|os|device|telemetry)\.|faas\.instance$|k8s\.(?:pod|node|container|replicaset)\.)/

/**
 * Meter providers of this process. Scores of one service are counted by many processes, and a backend adds their series up only
 * where they differ: each provider has a `service.instance.id` that no other has, here or in another process. What distinguishes
 * the processes of the scored service itself is left out, or every one of them would be a set of series for each process here.
 */
export class ServiceMeters {
  readonly #instanceId: string
  readonly #to: Destination | undefined
  #made = 0

  /**
   * @param instanceId Identifies this process among all that count scores, now and before.
   * @param to Where metrics go; `undefined` if they go nowhere.
   */
  constructor(instanceId: string, to: Destination | undefined) {
    this.#instanceId = instanceId
    this.#to = to
  }

  /** @param attributes The resource of one of the service's processes. */
  create(attributes: Readonly<Record<string, unknown>>): MeterOutput {
    this.#made += 1
    const instance = this.#made === 1 ? this.#instanceId : `${this.#instanceId}-${this.#made}`
    const meterProvider = new MeterProvider({
      resource: toResource({ ...attributesOfService(attributes), 'service.instance.id': instance }),
      readers: this.#to === undefined ? [] : [metricReader(this.#to)],
    })
    return {
      meterProvider,
      shutdown: async () => {
        await meterProvider.shutdown().catch(() => undefined)
      },
    }
  }
}

/** What all processes of a service have in common of their resources. */
export function attributesOfService(attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !OF_A_PROCESS.test(name)))
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

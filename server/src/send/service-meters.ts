import type { MeterProvider as MeterProviderLike } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { envDetector } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'

import { VERSION } from '../version.ts'
import type { Destination } from './acknowledged-exporter.ts'
import { toResource } from './to-resource.ts'

/** The metrics of one resource. */
export interface MeterOutput {
  readonly meterProvider: MeterProviderLike
  /** Sends the final counts, and ends. */
  shutdown(): Promise<void>
}

/** Interval of sending metrics, in milliseconds. */
const METRICS_EVERY_MS = 10_000

/** Attributes that distinguish processes of one service. */
const OF_A_PROCESS =
  /^(?:service\.instance\.id$|(?:host|process|container|os|device|telemetry)\.|faas\.instance$|k8s\.(?:pod|node|container|replicaset)\.)/

/**
 * The meter providers of this process. Many processes count scores of one service, and a backend only adds their series up if they differ,
 * so each provider has a unique `service.instance.id`. Attributes that distinguish the scored service's own processes are omitted;
 * otherwise each of these would create its own set of series in each process here.
 */
export class ServiceMeters {
  readonly #instanceId: string
  readonly #to: Destination | undefined
  #made = 0

  /**
   * @param instanceId identifies this process among all that count scores, now and before
   * @param to the destination of metrics; `undefined` for none
   */
  constructor(instanceId: string, to: Destination | undefined) {
    this.#instanceId = instanceId
    this.#to = to
  }

  /** The service's own metrics. */
  own(): MeterOutput {
    return this.#create({
      ...envDetector.detect().attributes,
      'service.name': 'spanscore',
      'service.version': VERSION,
    })
  }

  /** @param attributes the resource of one of the service's processes */
  create(attributes: Readonly<Record<string, unknown>>): MeterOutput {
    return this.#create(attributesOfService(attributes))
  }

  #create(attributes: Readonly<Record<string, unknown>>): MeterOutput {
    this.#made += 1
    const instance = this.#made === 1 ? this.#instanceId : `${this.#instanceId}-${this.#made}`
    const meterProvider = new MeterProvider({
      resource: toResource({ ...attributes, 'service.instance.id': instance }),
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

/** The resource attributes that all processes of a service share. */
export function attributesOfService(attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !OF_A_PROCESS.test(name)))
}

function metricReader({ url, headers, agent, timeoutMs }: Destination): PeriodicExportingMetricReader {
  return new PeriodicExportingMetricReader({
    exportIntervalMillis: METRICS_EVERY_MS,
    exportTimeoutMillis: Math.min(timeoutMs, METRICS_EVERY_MS),
    exporter: new OTLPMetricExporter({
      url: `${url.replace(/\/$/, '')}/v1/metrics`,
      headers: { ...headers },
      timeoutMillis: timeoutMs,
      ...(agent !== undefined && { httpAgentOptions: () => agent }),
    }),
  })
}

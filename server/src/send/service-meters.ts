import type { IncomingMessage, ServerResponse } from 'node:http'

import type { MeterProvider as MeterProviderLike } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { envDetector } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import type { IMetricReader } from '@opentelemetry/sdk-metrics'
import { certificateTrouble } from 'spanscore/engine'

import { VERSION } from '../version.ts'
import { OPTIONS_OF_TO } from './acknowledged-exporter.ts'
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
  readonly #report: (line: string) => void
  readonly #prometheus = new PrometheusExporter({ preventServerStart: true })
  #made = 0

  /**
   * @param instanceId identifies this process among all that count scores, now and before
   * @param to the destination of metrics; `undefined` for none
   * @param report receives a line if it refuses them
   */
  constructor(instanceId: string, to: Destination | undefined, report: (line: string) => void = () => undefined) {
    this.#instanceId = instanceId
    this.#to = to
    this.#report = report
  }

  /** The service's own metrics, which Prometheus may read as well. */
  own(): MeterOutput {
    return this.#create(
      { ...envDetector.detect().attributes, 'service.name': 'spanscore', 'service.version': VERSION },
      [this.#prometheus],
    )
  }

  /** Answers a request of Prometheus with the service's own metrics. */
  scrape(request: IncomingMessage, response: ServerResponse): void {
    this.#prometheus.getMetricsRequestHandler(request, response)
  }

  /** @param attributes the resource of one of the service's processes */
  create(attributes: Readonly<Record<string, unknown>>): MeterOutput {
    return this.#create(attributesOfService(attributes))
  }

  #create(attributes: Readonly<Record<string, unknown>>, more: readonly IMetricReader[] = []): MeterOutput {
    this.#made += 1
    const instance = this.#made === 1 ? this.#instanceId : `${this.#instanceId}-${this.#made}`
    const meterProvider = new MeterProvider({
      resource: toResource({ ...attributes, 'service.instance.id': instance }),
      readers: [...(this.#to === undefined ? [] : [metricReader(this.#to, this.#report)]), ...more],
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

function metricReader(
  { url, headers, agent, timeoutMs }: Destination,
  report: (line: string) => void,
): PeriodicExportingMetricReader {
  const exporter = new OTLPMetricExporter({
    url: `${url.replace(/\/$/, '')}/v1/metrics`,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    ...(agent !== undefined && { httpAgentOptions: () => agent }),
  })
  const send = exporter.export.bind(exporter)
  let latest: string | undefined
  exporter.export = (metrics, onResult) =>
    send(metrics, (result) => {
      const refusal = describeRefusal(result.error, url)
      if (refusal !== undefined && latest === undefined)
        report(`Metrics were not taken at ${url}/v1/metrics: ${refusal}`)
      latest = refusal
      onResult(result)
    })
  return new PeriodicExportingMetricReader({
    exportIntervalMillis: METRICS_EVERY_MS,
    exportTimeoutMillis: Math.min(timeoutMs, METRICS_EVERY_MS),
    exporter,
  })
}

/** @returns `undefined` if nothing answered, as scores say too */
function describeRefusal(error: Error | undefined, url: string): string | undefined {
  // The exporter has a copy of its error's class.
  const status =
    error !== undefined && 'code' in error && typeof error.code === 'number' ? `HTTP ${error.code}` : undefined
  return status ?? certificateTrouble(error, `--to ${url}`, OPTIONS_OF_TO)
}

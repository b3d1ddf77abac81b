// oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

import { logs, metrics } from '@opentelemetry/api'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace'

/** What an OTLP receiver has counted. */
export interface ReceivedCounts {
  readonly spans: number
  readonly events: number
  readonly metricRequests: number
}

/** The SDK's own default: an exporter turns a whole batch into a request in one turn of the event loop. */
const SERIALISED_IN_ONE_TURN = 512

/** Real exporters, and a receiver in a thread of its own. */
export interface OtlpEnd {
  /** Makes a processor that exports to the receiver. */
  exportSpans(): BatchSpanProcessor
  /** Flushes loggers and meters. */
  flush(): Promise<void>
  counts(): Promise<ReceivedCounts>
  close(): Promise<void>
}

/** Registers global logger and meter providers that export OTLP over HTTP to a receiver on loopback. */
export async function createOtlpEnd(): Promise<OtlpEnd> {
  const worker = new Worker(new URL('./otlp-receiver.ts', import.meta.url))
  const [url]: unknown[] = await once(worker, 'message')
  const loggerProvider = new LoggerProvider({
    processors: [
      new BatchLogRecordProcessor({
        exporter: new OTLPLogExporter({ url: `${String(url)}/v1/logs` }),
        maxQueueSize: 100_000,
        maxExportBatchSize: SERIALISED_IN_ONE_TURN,
      }),
    ],
  })
  const exporter = new OTLPMetricExporter({ url: `${String(url)}/v1/metrics` })
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 5_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  logs.setGlobalLoggerProvider(loggerProvider)
  metrics.setGlobalMeterProvider(meterProvider)
  return {
    exportSpans: () =>
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${String(url)}/v1/traces` }),
        maxQueueSize: 200_000,
        maxExportBatchSize: SERIALISED_IN_ONE_TURN,
        scheduledDelayMillis: 500,
      }),
    flush: async () => {
      await loggerProvider.forceFlush()
      await meterProvider.forceFlush()
    },
    counts: async () => {
      worker.postMessage('counts')
      const [counts] = (await once(worker, 'message')) as [ReceivedCounts]
      return counts
    },
    close: async () => {
      await loggerProvider.shutdown()
      await meterProvider.shutdown()
      await worker.terminate()
    },
  }
}

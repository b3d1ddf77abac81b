/** The OpenTelemetry set-up of the demo's application; spanscore has no part in it. */
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace'

/** Starts traces, logs and metrics towards OTLP/HTTP endpoints such as `http://localhost:4318`. */
export function startTelemetry(endpoints: readonly string[]): NodeSDK {
  const to = (path: string) => endpoints.map((endpoint) => ({ url: `${endpoint.replace(/\/$/, '')}/v1/${path}` }))
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ 'service.name': 'spanscore-demo' }),
    spanProcessors: to('traces').map(
      (config) => new BatchSpanProcessor({ exporter: new OTLPTraceExporter(config), scheduledDelayMillis: 200 }),
    ),
    logRecordProcessors: to('logs').map(
      (config) => new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(config) }),
    ),
    metricReaders: to('metrics').map(
      (config) => new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter(config) }),
    ),
  })
  sdk.start()
  return sdk
}

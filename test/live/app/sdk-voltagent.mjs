import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { VoltAgentObservability } from '@voltagent/core'

/** VoltAgent makes and registers its providers itself. */
export let observability

export function start() {
  observability = new VoltAgentObservability({
    serviceName: 'live',
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    logProcessors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })],
  })
  return observability
}

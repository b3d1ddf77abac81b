import { LangfuseSpanProcessor } from '@langfuse/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { NodeSDK } from '@opentelemetry/sdk-node'

/** The SDK with Langfuse's processor, which exports to the backend of the test. */
export function start() {
  const sdk = new NodeSDK({
    serviceName: 'live',
    spanProcessors: [new LangfuseSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  sdk.start()
  return sdk
}

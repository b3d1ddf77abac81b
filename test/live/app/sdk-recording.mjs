import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'

/** Starts and ends since the last look, in the order of the SDK's hooks. */
export const hooks = []

const hookRecorder = {
  onStart(span) {
    hooks.push({ ev: 'start', span: span.spanContext().spanId, attrs: Object.keys(span.attributes) })
  },
  onEnd(span) {
    hooks.push({ ev: 'end', span: span.spanContext().spanId })
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
}

/** The SDK without spanscore, with a processor that notes the order of the hooks. */
export function start() {
  const sdk = new NodeSDK({
    serviceName: 'live',
    spanProcessors: [hookRecorder, new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  sdk.start()
  return sdk
}

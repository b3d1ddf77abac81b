// TracerProvider without spanscore: scoring is what is missing.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
trace.getTracer('agents').startSpan('chat m', { attributes }).end()

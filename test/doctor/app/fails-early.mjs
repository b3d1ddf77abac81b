// An agent whose search fails before it calls a model, and that goes on without it.
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
const span = trace
  .getTracer('agents')
  .startSpan('embeddings', { attributes: { 'gen_ai.operation.name': 'embeddings' } })
span.setStatus({ code: SpanStatusCode.ERROR, message: 'connection refused' })
span.end()

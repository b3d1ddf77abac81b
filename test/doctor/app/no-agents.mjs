// All is attached, and no instrumentation records agents; it runs until it is ended.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
trace.getTracer('http').startSpan('GET /').end()
setInterval(() => undefined, 1000)

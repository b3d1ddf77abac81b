// All is attached, and no instrumentation records agents; it runs until it is ended.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())] }).register()
trace.getTracer('http').startSpan('GET /').end()
setInterval(() => undefined, 1000)

// NodeTracerProvider without spanscore: scoring is what is missing.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())] }).register()
const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
trace.getTracer('agents').startSpan('chat m', { attributes }).end()

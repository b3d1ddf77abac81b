// attachScoring comes before the provider is registered.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { attachScoring, createLoopScorer } from 'spanscore'

attachScoring({ scorers: [createLoopScorer()] })
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())] }).register()
const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
trace.getTracer('agents').startSpan('chat m', { attributes }).end()

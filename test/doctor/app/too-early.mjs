// attachScoring comes before the provider is registered.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring, createLoopScorer } from 'spanscore'

attachScoring({ scorers: [createLoopScorer()] })
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
trace.getTracer('agents').startSpan('chat m', { attributes }).end()

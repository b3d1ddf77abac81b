// Everything is attached, and the spans hold no content.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring, createLoopScorer } from 'spanscore'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
const scoring = attachScoring({ scorers: [createLoopScorer()] })
const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'mute' }
trace.getTracer('agents').startSpan('invoke_agent mute', { attributes }).end()
await scoring.forceFlush()

// Everything is attached, and the spans hold no content.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { attachScoring, createLoopScorer } from 'spanscore'

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())] }).register()
const scoring = attachScoring({ scorers: [createLoopScorer()] })
const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'mute' }
trace.getTracer('agents').startSpan('invoke_agent mute', { attributes }).end()
await scoring.forceFlush()

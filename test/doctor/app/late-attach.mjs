// Scoring is attached when the agent has already run.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { attachScoring, createAnswerPresentScorer } from 'spanscore'

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())] }).register()
const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'weather-agent' }
trace.getTracer('agents').startSpan('invoke_agent weather-agent', { attributes }).end()
attachScoring({ scorers: [createAnswerPresentScorer()] })

// Scoring is attached when the agent has already run.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring, createAnswerPresentScorer } from 'spanscore'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'weather-agent' }
trace.getTracer('agents').startSpan('invoke_agent weather-agent', { attributes }).end()
attachScoring({ scorers: [createAnswerPresentScorer()] })

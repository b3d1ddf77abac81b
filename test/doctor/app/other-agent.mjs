// A scorer for an agent that has not run, and an end without a flush.
import { trace } from '@opentelemetry/api'
import { BatchSpanProcessor, InMemorySpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import { attachScoring, createAnswerPresentScorer } from 'spanscore'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
attachScoring({ scorers: [{ scorer: createAnswerPresentScorer(), agent: 'billing' }] })
const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'weather-agent' }
trace.getTracer('agents').startSpan('invoke_agent weather-agent', { attributes }).end()

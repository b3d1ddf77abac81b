// An application that searches before it calls its agent, in one trace.
import { context, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring, createRetrievalRelevanceScorer } from 'spanscore'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
const model = { id: 'local/judge', url: 'http://127.0.0.1:1/v1', apiKey: 'k' }
attachScoring({ scorers: [{ scorer: createRetrievalRelevanceScorer({ model }), sample: 0 }] })
const tracer = trace.getTracer('agents')
const request = tracer.startSpan('POST /chat')
const below = trace.setSpan(context.active(), request)
tracer.startSpan('retrieval', { attributes: { 'gen_ai.operation.name': 'retrieval' } }, below).end()
const output = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'Hello.' }] }])
const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.output.messages': output }
tracer.startSpan('invoke_agent', { attributes }, below).end()
request.end()

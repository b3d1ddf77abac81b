// A scorer for one agent, and an agent whose name is not recorded.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring, createToolCallAccuracyScorerCode } from 'spanscore'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
attachScoring({
  scorers: [{ scorer: createToolCallAccuracyScorerCode({ expectedTool: 'weather' }), agent: 'weather-agent' }],
})
const output = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'Hello.' }] }])
const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.output.messages': output }
trace.getTracer('agents').startSpan('invoke_agent', { attributes }).end()

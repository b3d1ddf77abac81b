// A scorer for one agent, and an agent whose name is not recorded.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { attachScoring, createToolCallAccuracyScorerCode } from 'spanscore'

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())] }).register()
attachScoring({
  scorers: [{ scorer: createToolCallAccuracyScorerCode({ expectedTool: 'weather' }), agent: 'weather-agent' }],
})
const output = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'Hello.' }] }])
const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.output.messages': output }
trace.getTracer('agents').startSpan('invoke_agent', { attributes }).end()

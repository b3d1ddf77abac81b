// A scorer for an agent that no run has, and an agent without spans of its model calls.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { attachScoring, createToolCallAccuracyScorerCode } from 'spanscore'

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())] }).register()
attachScoring({
  scorers: [{ scorer: createToolCallAccuracyScorerCode({ expectedTool: 'weather' }), agent: 'wether-agent' }],
})
const output = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'Hello.' }] }])
const attributes = {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': 'weather-agent',
  'gen_ai.output.messages': output,
}
trace.getTracer('agents').startSpan('invoke_agent weather-agent', { attributes }).end()

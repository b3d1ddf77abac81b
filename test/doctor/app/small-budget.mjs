// The budget is enough for a few of the runs.
import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring, createPromptAlignmentScorerLLM } from 'spanscore'
import { createFakeJudge } from 'spanscore/testing'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
const model = createFakeJudge('lenient', { truth: 'favourable' })
const scoring = attachScoring({ scorers: [createPromptAlignmentScorerLLM({ model })], budget: { callsPerMinute: 2 } })
const text = (role, content) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
const attributes = {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': 'busy',
  'gen_ai.input.messages': text('user', 'Is it warm?'),
  'gen_ai.output.messages': text('assistant', 'Yes.'),
}
for (let run = 0; run < 20; run++) trace.getTracer('agents').startSpan('invoke_agent busy', { attributes }).end()
await scoring.forceFlush()

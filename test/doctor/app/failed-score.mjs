// Everything is attached, one of the scorers throws, and the AI SDK records neither inputs nor outputs.
import { trace } from '@opentelemetry/api'
import { OpenTelemetry } from '@ai-sdk/otel'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { generateText, registerTelemetry } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { attachScoring, createRunLimitsScorer, createScorer } from 'spanscore'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
const broken = createScorer({ id: 'broken', description: 'Throws.' }).generateScore(() => {
  throw new Error('broken')
})
const scoring = attachScoring({ scorers: [broken, createRunLimitsScorer({ maxSteps: 3 })] })
registerTelemetry(new OpenTelemetry())
const model = new MockLanguageModelV4({
  doGenerate: {
    content: [{ type: 'text', text: 'Cold.' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
    warnings: [],
  },
})
await generateText({
  model,
  prompt: 'Is it cold?',
  telemetry: { functionId: 'weather', recordInputs: false, recordOutputs: false },
})
await scoring.forceFlush()

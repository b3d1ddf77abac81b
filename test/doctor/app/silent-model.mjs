// An agent of the AI SDK in a server, whose telemetry nobody has registered.
import { trace } from '@opentelemetry/api'
import { createOpenAI } from '@ai-sdk/openai'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { generateText } from 'ai'
import { attachScoring, createAnswerPresentScorer } from 'spanscore'

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] }),
)
attachScoring({ scorers: [createAnswerPresentScorer()] })
const model = createOpenAI({ apiKey: 'none', baseURL: process.env.MODEL_URL })('gpt-5-mini')
await generateText({ model, prompt: 'Hello' })
setTimeout(() => undefined, 4000)

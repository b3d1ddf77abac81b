// An agent of the AI SDK in a server, whose telemetry nobody has registered.
import { createOpenAI } from '@ai-sdk/openai'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { generateText } from 'ai'
import { attachScoring, createAnswerPresentScorer } from 'spanscore'

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new InMemorySpanExporter())] }).register()
attachScoring({ scorers: [createAnswerPresentScorer()] })
const model = createOpenAI({ apiKey: 'none', baseURL: process.env.MODEL_URL })('gpt-5-mini')
await generateText({ model, prompt: 'Hello' })
setTimeout(() => undefined, 4000)

import { OpenTelemetry } from '@ai-sdk/otel'
import { createOpenAI } from '@ai-sdk/openai'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { generateText, registerTelemetry } from 'ai'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { judgeReply } from '../../src/testing/judge-reply.ts'
import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'

const exporter = new InMemorySpanExporter()
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  registerTelemetry(new OpenTelemetry())
})
afterAll(() => provider.shutdown())

it('leaves no span in the trace of an application that records every call of the AI SDK', async () => {
  const server = await createScriptedOpenAIServer(({ userText }) =>
    userText === 'Hi' ? 'Hello.' : judgeReply({ verdicts: { polite: 'pass' } }),
  )
  const model = createOpenAI({ baseURL: server.url, apiKey: 'x' }).chat('gpt-5-mini')
  const scorer = createRubricScorer({ model, criteria: [{ id: 'polite', question: 'Is it polite?' }] })
  await trace.getTracer('app').startActiveSpan('request', async (span) => {
    const { text } = await generateText({ model, prompt: 'Hi' })
    expect((await scorer.run({ input: 'Hi', output: text })).score).toBe(1)
    span.end()
  })
  await server.close()
  const names = exporter.getFinishedSpans().map(({ name }) => name)
  expect(server.requests).toHaveLength(2)
  expect(names).toContain('request')
  expect(names.filter((name) => name.startsWith('chat'))).toHaveLength(1)
  expect(exporter.getFinishedSpans().filter((span) => JSON.stringify(span.attributes).includes('polite'))).toEqual([])
})

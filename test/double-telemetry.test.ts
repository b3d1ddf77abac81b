import { createOpenAI } from '@ai-sdk/openai'
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { context, SpanKind, trace } from '@opentelemetry/api'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { generateText, isStepCount, registerTelemetry, streamText, tool } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ScoringSpanProcessor } from '../src/processor/scoring-span-processor.ts'
import { reconstructRuns } from '../src/runs/build-runs.ts'
import { defineScorer } from '../src/scoring/define-scorer.ts'
import { createScriptedOpenAIServer, type ScriptedOpenAIServer } from '../src/testing/scripted-openai-server.ts'

const exporter = new InMemorySpanExporter()
const scored: string[] = []
const conversations: (string | undefined)[] = []
const noteAgent = defineScorer({
  id: 'note_agent',
  description: 'Notes which agents are scored.',
  kind: 'code',
  inline: true,
  assess(run) {
    scored.push(run.agent.name ?? '')
    conversations.push(run.conversationId)
    return { status: 'scored', value: 1 }
  },
})
const scoring = new ScoringSpanProcessor({ scorers: [{ scorer: noteAgent, scope: 'every-agent' }] })
const provider = new TracerProvider({ spanProcessors: [scoring, new SimpleSpanProcessor({ exporter })] })
let server: ScriptedOpenAIServer

beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  registerTelemetry(new OpenTelemetry(), new LegacyOpenTelemetry())
  // Answers depend only on the question, so that agents that run at the same time do not get each other's replies.
  server = await createScriptedOpenAIServer((request) => {
    const text = JSON.stringify(request.messages)
    if (text.includes('Fail')) return { status: 401 }
    if (text.includes('Delegate') && !text.includes('call_ask')) {
      return { toolCalls: [{ id: 'call_ask', name: 'ask', arguments: { question: 'Weather?' } }] }
    }
    return text.includes('Delegate') ? 'It is fine.' : 'Sunny.'
  })
})

beforeEach(() => {
  exporter.reset()
  scored.length = 0
  conversations.length = 0
})
afterAll(() => server.close())

describe('AI SDK 7 with its new and its legacy telemetry both on', () => {
  it('gives one run for a call that is in two traces', async () => {
    await generateText({ model: model(), prompt: 'Weather?', telemetry: { functionId: 'weather' } })
    expect(traceCount()).toBe(2)
    expect(scored).toEqual(['weather'])
    expect(summary()).toEqual([{ agent: 'weather', output: 'Sunny.', dialect: 'ai-sdk', tools: [], children: [] }])
  })

  it('knows the conversation in either order, although only the older form has its id', async () => {
    const telemetry = { functionId: 'weather', includeRuntimeContext: { sessionId: true } } as const
    await generateText({ model: model(), prompt: 'Weather?', runtimeContext: { sessionId: 's1' }, telemetry })
    expect(conversations).toEqual(['s1'])
    expect(reconstructRuns(exporter.getFinishedSpans()).map((run) => run.conversationId)).toEqual(['s1'])
  })

  it('gives one run for each of two calls under one server span', async () => {
    await trace.getTracer('http').startActiveSpan('POST', { kind: SpanKind.SERVER }, async (span) => {
      await Promise.all([
        generateText({ model: model(), prompt: 'Weather?', telemetry: { functionId: 'one' } }),
        streamText({ model: model(), prompt: 'Weather?', telemetry: { functionId: 'two' } }).text,
      ])
      span.end()
    })
    expect(traceCount()).toBe(1)
    expect(
      summary()
        .map((run) => run.agent)
        .toSorted(),
    ).toEqual(['one', 'two'])
    expect(scored.toSorted()).toEqual(['one', 'two'])
  })

  it('gives a nested agent once, below the tool call that started it', async () => {
    const ask = tool({
      inputSchema: z.object({ question: z.string() }),
      execute: async ({ question }) =>
        (await generateText({ model: model(), prompt: question, telemetry: { functionId: 'inner' } })).text,
    })
    await generateText({
      model: model(),
      prompt: 'Delegate.',
      tools: { ask },
      stopWhen: isStepCount(3),
      telemetry: { functionId: 'outer' },
    })
    expect(scored).toEqual(['inner', 'outer'])
    const inner = { agent: 'inner', output: 'Sunny.', dialect: 'ai-sdk', tools: [], children: [] }
    expect(summary()).toEqual([
      { agent: 'outer', output: 'It is fine.', dialect: 'ai-sdk', tools: ['ask: Sunny.'], children: [inner] },
    ])
  })

  it('gives one run for a call that failed before any response', async () => {
    await generateText({ model: model(), prompt: 'Fail.', maxRetries: 0, telemetry: { functionId: 'failing' } }).catch(
      () => undefined,
    )
    expect(reconstructRuns(exporter.getFinishedSpans()).map((run) => run.status)).toEqual(['error'])
  })
})

function model(): ReturnType<ReturnType<typeof createOpenAI>> {
  return createOpenAI({ baseURL: server.url, apiKey: 'scripted' }).chat('gpt-5-mini')
}

function traceCount(): number {
  return new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size
}

interface Summary {
  readonly agent: string | undefined
  readonly output: string | undefined
  readonly dialect: string
  readonly tools: readonly string[]
  readonly children: readonly Summary[]
}

function summary(runs = reconstructRuns(exporter.getFinishedSpans())): readonly Summary[] {
  return runs.map((run) => ({
    agent: run.agent.name,
    output: run.output,
    dialect: run.dialect,
    tools: run.toolCalls.map((call) => `${call.name}: ${String(call.result)}`),
    children: summary([...run.children]),
  }))
}

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { attachScoring, createAnswerPresentScorer, createToolCallAccuracyScorerCode } from 'spanscore'
import type { AgentRun } from 'spanscore'
import { expect, it } from 'vitest'

it('Spans written by hand as the docs show them are one whole run', async () => {
  const folder = resolve('.cache/own-spans')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const [, section = ''] = readFileSync('docs/own-spans.md', 'utf8').split('# Spans of your own')
  const file = resolve(folder, 'own-spans.ts')
  writeFileSync(file, /^```ts\n([\s\S]*?)^```/m.exec(section)?.[1] ?? '')
  const { answer }: { answer: (question: string) => Promise<string> } = await import(pathToFileURL(file).href)

  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  const runs: Pick<AgentRun, 'agent' | 'input' | 'output' | 'toolCalls' | 'usage' | 'missing'>[] = []
  const scoring = attachScoring({
    scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'get_weather' }), createAnswerPresentScorer()],
    onScore: (_, { agent, input, output, toolCalls, usage, missing }) => {
      runs.push({ agent, input, output, toolCalls, usage, missing })
    },
  })
  expect(await answer('How warm is it?')).toBe('It is 4 degrees in Oslo.')
  await scoring.forceFlush()

  const [run] = runs
  expect(scoring.ledger().runs).toMatchObject({ seen: 1, closed: 1 })
  expect(run).toMatchObject({
    agent: { name: 'weather_agent' },
    input: [{ role: 'user', text: 'How warm is it?' }],
    output: 'It is 4 degrees in Oslo.',
    toolCalls: [
      { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' }, result: { celsius: 4 }, status: 'ok' },
    ],
    usage: { inputTokens: 40, outputTokens: 9 },
  })
  // These parts are not written by the example.
  expect(run?.missing.map(({ what }) => what)).toEqual(['systemInstructions', 'availableTools'])
  const agent = exporter.getFinishedSpans().find(({ name }) => name.startsWith('invoke_agent'))
  expect(agent?.attributes).toMatchObject({
    'spanscore.tool_call_accuracy.score': 1,
    'spanscore.answer_present.score': 1,
  })
  await provider.shutdown()
})

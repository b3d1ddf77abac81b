import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { registerTelemetry, tool, ToolLoopAgent } from 'ai'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'

import { attachScoring } from '../../src/processor/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createToolCallAccuracyScorerCode } from '../../src/scorers/tool-call-accuracy-code.ts'
import { createScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'
import type { ScriptedOpenAIServer } from '../../src/testing/scripted-openai-server.ts'
import { createPipeline, expectBalanced, judgeScorer } from './harness.ts'

registerTelemetry(new OpenTelemetry())

let server: ScriptedOpenAIServer | undefined
afterEach(async () => {
  await server?.close()
})

async function askAgent(calledTool: string): Promise<string> {
  server = await createScriptedOpenAIServer({
    script: [
      { toolCalls: [{ name: calledTool, arguments: { location: 'Oslo' } }] },
      { text: 'It is 4 degrees in Oslo.' },
    ],
  })
  const provider = createOpenAI({ apiKey: 'test', baseURL: server.url })
  const lookUp = tool({ inputSchema: z.object({ location: z.string() }), execute: () => ({ temperatureC: 4 }) })
  const agent = new ToolLoopAgent({
    model: provider.chat('gpt-test'),
    instructions: 'You answer questions about the weather.',
    tools: { 'weather-tool': lookUp, 'search-tool': lookUp },
    telemetry: { functionId: 'weather-agent' },
  })
  const { text } = await agent.generate({ prompt: 'What is the weather in Oslo?' })
  return text
}

const scorers = () => [createToolCallAccuracyScorerCode({ expectedTool: 'weather-tool' }), judgeScorer('fitting')]

test('a real agent with a wrong tool arrives with score 0 on its own span, beside a batch processor', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: scorers() })
  const { receiver, flush } = await createPipeline({ processors: (batch) => [scoring, batch] })

  await askAgent('search-tool')
  await flush()

  const agent = receiver.spans.find(({ name }) => name.startsWith('invoke_agent'))
  expect(agent?.attributes).toMatchObject({
    'gen_ai.agent.name': 'weather-agent',
    'spanscore.tool_call_accuracy.score': 0,
    'spanscore.tool_call_accuracy.label': 'fail',
    'spanscore.complete': true,
  })
  expect(receiver.spans.find(({ name }) => name === 'evaluate fitting')?.parentSpanId).toBe(agent?.spanId)
  expect(scoring.ledger()).toMatchObject({
    runs: { seen: 1, closed: 1 },
    scorers: { tool_call_accuracy: { scored: 1 }, fitting: { scored: 1 } },
  })
  expectBalanced(scoring.ledger())
})

test('attached to its provider, the same agent has both scores on its own span, and nothing else differs', async () => {
  const { receiver, flush } = await createPipeline({ processors: (batch) => [batch] })
  await askAgent('weather-tool')
  await flush()
  const shapeOf = (from: number) =>
    receiver.spans.slice(from).map(({ name, attributes, kind, status }) => ({
      name,
      kind,
      status,
      keys: Object.keys(attributes).filter((key) => !key.startsWith('spanscore.')),
    }))
  const without = shapeOf(0)

  const scoring = attachScoring({ scorers: scorers() })
  await askAgent('weather-tool')
  await flush()

  expect(shapeOf(without.length)).toEqual(without)
  expect(receiver.spans.at(-1)?.attributes).toMatchObject({
    'spanscore.tool_call_accuracy.score': 1,
    'spanscore.fitting.score': 0.75,
  })
  expect(receiver.logs).toHaveLength(2)
  expectBalanced(scoring.ledger())
})

import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { agentAttributes, expectBalanced, open } from '../processor/harness.ts'

test('an endless list on a call of a run that has enough spans keeps nothing busy', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: [createToolErrorsScorer()], maxSpansPerRun: 1, settleMs: 0 })
  const provider = new BasicTracerProvider({ spanProcessors: [scoring] })
  const tracer = provider.getTracer('agents')
  const before = process.threadCpuUsage()
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const call = open(
    provider.getTracer('ai'),
    'ai.generateText.doGenerate',
    {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.response.toolCalls': JSON.stringify([{ toolCallId: 'other', toolName: 't', input: '{}' }]),
    },
    agent,
  )
  const other = open(tracer, 'invoke_agent b', agentAttributes('b'))
  Object.defineProperty(Reflect.get(call, 'attributes') as object, 'ai.prompt.tools', {
    value: Object.assign([], { length: 2 ** 32 - 1 }),
    enumerable: true,
  })
  call.end()
  // Recorded in another trace by an instrumentation of the client: compared with the calls of agents.
  open(provider.getTracer('openai'), 'chat m', {
    'gen_ai.operation.name': 'chat',
    'gen_ai.output.messages': JSON.stringify([
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'call', name: 't', arguments: {} }] },
    ]),
  }).end()
  for (const span of [agent, other]) span.end()
  await scoring.forceFlush()
  await scoring.shutdown()
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(2000)
  expectBalanced(scoring.ledger())
}, 20_000)

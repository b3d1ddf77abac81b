import { ROOT_CONTEXT } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import { callInTool } from './call-in-tool.ts'

test('a run that is split over traces stays together, whatever large traces are between its calls', async () => {
  const models: number[] = []
  const scorer = createScorer({ id: 'models', description: 'Notes the calls.' }).generateScore(({ run }) => {
    models.push(run.steps.length)
    return 1
  })
  const scoring = new ScoringSpanProcessor({ scorers: [scorer], queueSize: 10_000 })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  const question = { role: 'user', parts: [{ type: 'text', content: 'Which page is it?' }] }
  const asked = { role: 'assistant', parts: [{ type: 'tool_call', id: 'call_1', name: 'look', arguments: {} }] }
  const answered = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: 'page 1' }] }
  const call = (input: readonly object[], output: readonly object[]): void => {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': JSON.stringify(input),
      'gen_ai.output.messages': JSON.stringify(output),
    }
    tracer.startSpan('chat', { attributes }, ROOT_CONTEXT).end()
  }
  call([question], [asked])
  callInTool(tracer, 'between', 1900)
  callInTool(tracer, 'between', 200)
  call([question, asked, answered], [{ role: 'assistant', parts: [{ type: 'text', content: 'Page 1.' }] }])
  await scoring.forceFlush()
  expect(models.filter((count) => count > 1)).toEqual([2])
  expect(scoring.ledger().runs).toMatchObject({ seen: 2101, closed: 2101 })
  await scoring.shutdown()
})

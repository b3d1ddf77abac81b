import { setImmediate as nextTurn } from 'node:timers/promises'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Tracer } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import { LongTurns } from '../fuzz/long-turns.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50
/** Milliseconds of the clock, for slow machines. */
const timeout = 120_000
const TOOLS = 900
const CALLS_OF_EACH = 25

/** A tool without an agent, in a trace of its own, that calls a model several times. */
function callInTool(tracer: Tracer, name: string, calls: number): void {
  const tool = tracer.startSpan('look', { attributes: { 'gen_ai.operation.name': 'execute_tool' } }, ROOT_CONTEXT)
  for (let call = 0; call < calls; call += 1) {
    const question = [{ role: 'user', parts: [{ type: 'text', content: `question ${name} ${call}` }] }]
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': JSON.stringify(question) }
    tracer.startSpan('chat', { attributes }, trace.setSpan(ROOT_CONTEXT, tool)).end()
  }
  tool.end()
}

/** The turns that took long while hundreds of tools without an agent were laid out. */
async function longTurns(tools: number): Promise<readonly string[]> {
  const turns = new LongTurns(LONGEST_MS)
  const runs = tools * CALLS_OF_EACH
  const scoring = new ScoringSpanProcessor({ scorers: [createAnswerPresentScorer()], queueSize: runs, settleMs: 100 })
  const tracer = new BasicTracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  for (let index = 0; index < tools; index += 1) callInTool(tracer, `${index}`, CALLS_OF_EACH)
  while (scoring.ledger().runs.closed < runs) {
    const end = turns.begin('a turn')
    await nextTurn()
    end()
  }
  await scoring.shutdown()
  return turns.report().own.map(({ text }) => text)
}

test(
  'thousands of spans without an agent, in hundreds of traces, are laid out in short turns',
  { timeout },
  async () => {
    // The compilation at the first run of a process is not measured here, and on a busy machine a single turn may take long.
    await longTurns(100)
    const found = await longTurns(TOOLS)
    expect(found.length === 0 ? found : await longTurns(TOOLS)).toEqual([])
  },
)

test('a run that is split over traces stays together, whatever large traces are between its calls', async () => {
  const models: number[] = []
  const scorer = createScorer({ id: 'models', description: 'Notes the calls.' }).generateScore(({ run }) => {
    models.push(run.steps.length)
    return 1
  })
  const scoring = new ScoringSpanProcessor({ scorers: [scorer], queueSize: 10_000 })
  const tracer = new BasicTracerProvider({ spanProcessors: [scoring] }).getTracer('app')
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

import { setImmediate as nextTurn } from 'node:timers/promises'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'
import { LongTurns } from '../fuzz/long-turns.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50

/** Milliseconds of the clock, for slow machines. */
const timeout = 120_000
const CALLS = 1000

const parts = (...given: readonly object[]) => given

/** What a model is asked: a long question of its own, and in every other call also the answer of a tool. No call has an id. */
function request(index: number): string {
  const question = { role: 'user', parts: parts({ type: 'text', content: `${'word '.repeat(1600)}${index}` }) }
  if (index % 2 === 0) return JSON.stringify([question])
  return JSON.stringify([
    question,
    { role: 'assistant', parts: parts({ type: 'tool_call', name: 'look', arguments: {} }) },
    { role: 'tool', parts: parts({ type: 'tool_call_response', response: `page ${index}` }) },
  ])
}

/** A tool that calls a model many times; each of these calls may continue each of the others. */
async function longTurns(calls: number): Promise<readonly string[]> {
  const turns = new LongTurns(LONGEST_MS)
  const scoring = new ScoringSpanProcessor({ scorers: [createAnswerPresentScorer()], queueSize: calls })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  const tool = tracer.startSpan('look', { attributes: { 'gen_ai.operation.name': 'execute_tool' } }, ROOT_CONTEXT)
  for (let index = 0; index < calls; index += 1) {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': request(index),
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: parts({ type: 'tool_call', name: 'look', arguments: { index } }) },
      ]),
    }
    tracer.startSpan('chat', { attributes }, trace.setSpan(ROOT_CONTEXT, tool)).end()
  }
  tool.end()
  const flushed = scoring.forceFlush()
  while (scoring.ledger().runs.open > 0) {
    const end = turns.begin('a turn')
    await nextTurn()
    end()
  }
  await flushed
  expect(scoring.ledger().runs).toMatchObject({ seen: calls, closed: calls })
  await scoring.shutdown()
  return turns.report().own.map(({ text }) => text)
}

test('a thousand model calls that resemble one another are compared in short turns', { timeout }, async () => {
  // The compilation at the first run of a process is not measured here, and on a busy machine a single turn may take long.
  await longTurns(100)
  const found = await longTurns(CALLS)
  expect(found.length === 0 ? found : await longTurns(CALLS)).toEqual([])
})

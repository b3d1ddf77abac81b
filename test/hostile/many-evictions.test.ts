import { setImmediate as nextTurn } from 'node:timers/promises'

import { ROOT_CONTEXT } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'

const RUNS = 5000

test('runs that make room for an attribute above the limit are evicted over several turns', async () => {
  const scoring = new ScoringSpanProcessor({
    scorers: [createAnswerPresentScorer()],
    memoryBytes: 32 * 1024 * 1024,
  })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  const start = (question: string): void => {
    const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.input.messages': question }
    tracer.startSpan('invoke_agent', { attributes }, ROOT_CONTEXT)
  }
  for (let index = 0; index < RUNS; index += 1) start(`question ${index}`)
  expect(scoring.ledger().runs).toMatchObject({ open: RUNS, evicted: 0 })
  start('x'.repeat(33 * 1024 * 1024))
  const inTurns: number[] = []
  for (let before = 0; before <= RUNS;) {
    const { evicted } = scoring.ledger().runs
    inTurns.push(evicted - before)
    before = evicted
    await nextTurn()
  }
  expect(Math.max(...inTurns)).toBeLessThanOrEqual(100)
  expect(scoring.ledger().runs).toMatchObject({ seen: RUNS + 1, evicted: RUNS + 1, open: 0 })
  await scoring.shutdown()
})

import { setImmediate as nextTurn } from 'node:timers/promises'

import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { beforeAll, expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createLoopScorer } from '../../src/scorers/code/loop.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import { LongTurns } from '../fuzz/long-turns.ts'
import { denseRun, readingMs } from './dense-run.ts'
import type { DenseShape } from './dense-run.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50

const code = [createLoopScorer(), createToolErrorsScorer()]
const judge = createRubricScorer({
  model: createFakeJudge('lenient'),
  criteria: [{ id: 'good', question: 'Is it good?' }],
})

/** How a processor ends its work while large runs wait to be read. */
type Ending = 'shutdown' | 'two shutdowns' | 'flush' | 'two flushes' | 'flush, then shutdown'

const ENDINGS: Readonly<Record<Ending, (processor: ScoringSpanProcessor) => Promise<unknown>>> = {
  shutdown: (processor) => processor.shutdown(),
  'two shutdowns': (processor) => Promise.all([processor.shutdown(), processor.stopScoring(), processor.shutdown()]),
  flush: (processor) => processor.forceFlush(),
  'two flushes': (processor) => Promise.all([processor.forceFlush(), processor.forceFlush()]),
  'flush, then shutdown': (processor) => Promise.all([processor.forceFlush(), processor.shutdown()]),
}

/** Plays two large runs, ends the work in the same turn, and returns the outcome. */
async function end(shape: DenseShape, ending: Ending, limitMs: number) {
  const plays = [denseRun(shape), denseRun(shape)]
  const turns = new LongTurns(limitMs)
  const handedOn: ReadableSpan[] = []
  const processor = new ScoringSpanProcessor({
    scorers: [...code, judge],
    timeoutMs: 60_000,
    flushTimeoutMs: 60_000,
    shutdownTimeoutMs: 60_000,
    next: {
      onStart: () => {},
      onEnd: (span: ReadableSpan) => handedOn.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  })
  const tracer = new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('agents')
  for (const play of plays) play(tracer, (_what, hook) => hook())
  const state = { isOver: false }
  const endCall = turns.begin(ending)
  const over = ENDINGS[ending](processor).then(() => (state.isOver = true))
  endCall()
  while (!state.isOver) {
    const endTurn = turns.begin('a turn')
    await nextTurn()
    endTurn()
  }
  await over
  return { long: turns.report().own.map(({ text }) => text), ledger: processor.ledger(), handedOn }
}

beforeAll(async () => {
  const scorers = [...code, judge]
  for (const scorer of scorers) await scorer.run({ input: 'What is it?', output: 'It is what it is.' }).catch(() => {})
})

test.each<{ shape: DenseShape; ending: Ending }>([
  { shape: 'results', ending: 'shutdown' },
  { shape: 'results', ending: 'two shutdowns' },
  { shape: 'results', ending: 'flush' },
  { shape: 'messages', ending: 'shutdown' },
  { shape: 'messages', ending: 'flush, then shutdown' },
  { shape: 'no agent', ending: 'flush' },
  { shape: 'no agent', ending: 'two flushes' },
  { shape: 'no agent', ending: 'shutdown' },
  { shape: 'no agent', ending: 'flush, then shutdown' },
  { shape: 'calls by themselves', ending: 'flush' },
  { shape: 'calls by themselves', ending: 'shutdown' },
])('$ending reads large runs ($shape) in no long turn, and loses nothing', async ({ shape, ending }) => {
  // On a slow machine, everything takes longer.
  const limitMs = Math.max(LONGEST_MS, readingMs() / 4)
  let result = await end(shape, ending, limitMs)
  // Work that is not divided takes long every time; on a busy machine a single turn may take long.
  if (result.long.length > 0) result = await end(shape, ending, limitMs)
  const { ledger, long, handedOn } = result
  expect(long).toEqual([])
  expect(ledger.runs).toMatchObject({ seen: 2, closed: 2, open: 0, evicted: 0 })
  for (const { id } of code) {
    expect(ledger.scorers[id]).toMatchObject({ runs: 2, failed: 0, pending: 0 })
    expect(ledger.scorers[id]?.reasons).not.toHaveProperty('shutdown')
  }
  expect(ledger.scorers['tool_errors']).toMatchObject({ scored: 2 })
  expect(ledger.scorers[judge.id]).toMatchObject({ runs: 2, failed: 0, pending: 0 })
  expect(ledger.scorers[judge.id]?.scored).toBeGreaterThanOrEqual(ending.includes('shutdown') ? 0 : 2)
  const agents = handedOn.filter(({ name }) => name.startsWith('invoke_agent'))
  expect(new Set(agents).size).toBe(shape.startsWith('no agent') || shape.startsWith('calls by') ? 0 : 2)
  for (const { attributes } of agents) expect(attributes).toHaveProperty('spanscore.tool_errors.score')
})

test('a shutdown without time gives up large runs, and counts them in the ledger', async () => {
  const play = denseRun('results')
  const processor = new ScoringSpanProcessor({ scorers: [...code, judge], shutdownTimeoutMs: 0 })
  play(new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('agents'), (_what, hook) => hook())
  const turns = new LongTurns(Math.max(LONGEST_MS, readingMs() / 4))
  const endCall = turns.begin('shutdown')
  const over = processor.shutdown()
  endCall()
  await over
  expect(turns.report().own).toEqual([])
  const { runs, scorers } = processor.ledger()
  expect(runs).toMatchObject({ seen: 1, closed: 1, open: 0 })
  for (const row of Object.values(scorers)) expect(row).toMatchObject({ runs: 1, pending: 0, reasons: { shutdown: 1 } })
})

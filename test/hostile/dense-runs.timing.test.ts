import { setImmediate as nextTurn } from 'node:timers/promises'

import { TracerProvider } from '@opentelemetry/sdk-trace'
import { beforeAll, expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createLoopScorer } from '../../src/scorers/code/loop.ts'
import { createToolArgumentsScorer } from '../../src/scorers/code/tool-arguments.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import { LongTurns } from '../fuzz/long-turns.ts'
import { denseRun, oddRun, oddValues, readingMs } from './dense-run.ts'
import type { DenseShape } from './dense-run.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50

const scorers = [
  createLoopScorer(),
  createToolErrorsScorer(),
  createToolArgumentsScorer(),
  createRubricScorer({ model: createFakeJudge('lenient'), criteria: [{ id: 'good', question: 'Is it good?' }] }),
]

/** Turns of the event loop and hooks that took longer than the limit. */
async function longTurns(
  play: ReturnType<typeof denseRun>,
  limitMs: number,
  redacts: boolean,
): Promise<readonly string[]> {
  const turns = new LongTurns(limitMs)
  const processor = new ScoringSpanProcessor({
    scorers,
    timeoutMs: 60_000,
    settleMs: 50,
    ...(redacts && { redact: (run) => run }),
  })
  const provider = new TracerProvider({ spanProcessors: [processor] })
  play(provider.getTracer('agents'), (what, hook) => {
    const end = turns.begin(what)
    hook()
    end()
  })
  const rows = () => Object.values(processor.ledger().scorers)
  for (let quiet = 0; quiet < 20;) {
    const end = turns.begin('a turn')
    await nextTurn()
    end()
    quiet = rows().every(({ offered, pending }) => offered > 0 && pending === 0) ? quiet + 1 : 0
  }
  expect(rows().every(({ failed }) => failed === 0)).toBe(true)
  await processor.shutdown()
  return turns.report().own.map(({ text }) => text)
}

/** The compilation at the first score of a process is not measured here. */
beforeAll(async () => {
  for (const scorer of scorers) await scorer.run({ input: 'What is it?', output: 'It is what it is.' }).catch(() => {})
})

test.each<{ shape: DenseShape; redacts: boolean }>([
  { shape: 'results', redacts: false },
  { shape: 'results', redacts: true },
  { shape: 'arguments', redacts: true },
  { shape: 'arguments as text', redacts: false },
  { shape: 'calls of one tool', redacts: false },
  { shape: 'messages', redacts: false },
  { shape: 'messages', redacts: true },
  { shape: 'no agent', redacts: false },
])('much dense JSON in $shape holds no turn for long (redact: $redacts)', async (run) => {
  // On a slow machine, everything takes longer.
  const limitMs = Math.max(LONGEST_MS, readingMs() / 4)
  const found = await longTurns(denseRun(run.shape), limitMs, run.redacts)
  // Work that is not divided takes long every time; on a busy machine a single turn may take long.
  expect(found.length === 0 ? found : await longTurns(denseRun(run.shape), limitMs, run.redacts)).toEqual([])
})

test.each(
  Object.entries(oddValues).flatMap(([content, make]) =>
    (['arguments', 'message'] as const).map((place) => ({ content, make, place })),
  ),
)('one value of many $content holds no turn for long ($place)', async ({ make, place }) => {
  const limitMs = Math.max(LONGEST_MS, readingMs() / 4)
  const value = make()
  const found = await longTurns(oddRun(value, place), limitMs, false)
  expect(found.length === 0 ? found : await longTurns(oddRun(value, place), limitMs, false)).toEqual([])
})

import { setImmediate as nextTurn } from 'node:timers/promises'

import { ROOT_CONTEXT } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import { LongTurns } from '../fuzz/long-turns.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50

/** Milliseconds of the clock, for slow machines. */
const timeout = 120_000

/** The turns that took long while scores that never end were given up, some of them with held spans. */
async function longTurns(runs: number, held: number): Promise<readonly string[]> {
  const turns = new LongTurns(LONGEST_MS)
  const handedOn: unknown[] = []
  const scorer = createScorer({ id: 'never', description: 'Never ends.' }).generateScore(
    () => new Promise<number>(() => {}),
  )
  const scoring = new ScoringSpanProcessor({
    scorers: [scorer],
    queueSize: runs,
    concurrency: runs,
    timeoutMs: 600_000,
    shutdownTimeoutMs: 20,
    holdMs: held > 0 ? 600_000 : 0,
    next: {
      onStart: () => {},
      onEnd: (span: unknown) => handedOn.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('agents')
  const attributes = { 'gen_ai.operation.name': 'invoke_agent' }
  for (let index = 0; index < runs; index += 1) tracer.startSpan('invoke_agent', { attributes }, ROOT_CONTEXT).end()
  expect(handedOn).toHaveLength(runs - held)
  const state = { isOver: false }
  const end = turns.begin('the shutdown')
  void scoring.shutdown().then(() => (state.isOver = true))
  end()
  while (!state.isOver) {
    const endTurn = turns.begin('a turn')
    await nextTurn()
    endTurn()
  }
  expect(new Set(handedOn).size).toBe(runs)
  expect(scoring.ledger().scorers['never']).toMatchObject({ offered: runs, pending: 0, reasons: { shutdown: runs } })
  return turns.report().own.map(({ text }) => text)
}

test.each<{ runs: number; held: number }>([
  { runs: 4000, held: 4000 },
  { runs: 9900, held: 0 },
])('a shutdown gives up $runs scores in short turns, and hands $held spans on', { timeout }, async ({ runs, held }) => {
  // The compilation at the first run of a process is not measured here, and on a busy machine a single turn may take long.
  await longTurns(500, Math.min(held, 500))
  const found = await longTurns(runs, held)
  expect(found.length === 0 ? found : await longTurns(runs, held)).toEqual([])
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

import * as fc from 'fast-check'
import { addWeighted, weightedMean, withoutPause } from 'spanscore/engine'
import type { WeightedMean } from 'spanscore/engine'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { compareScores, differenceOf } from '../../src/page/store/compare.ts'
import { openPageDatabase } from '../../src/page/store/page-database.ts'
import { summariseScores } from '../../src/page/store/score-sums.ts'
import { storeScoredRun } from './made-score.ts'

const BUCKET_MS = 1000
const MAX_RUNS = 40

let folder: string
let database: DatabaseSync
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-sums-'))
  database = openPageDatabase(folder)
})
afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Scored {
  readonly value: number
  readonly probability: number
  readonly agent: string
  readonly agentVersion: string
  readonly settledMs: number
}

const scored: fc.Arbitrary<Scored> = fc.record({
  value: fc.oneof(fc.constantFrom(0, 1, 0.5), fc.double({ min: 0, max: 1, noNaN: true })),
  probability: fc.oneof(fc.constant(1), fc.double({ min: 0.002, max: 1, noNaN: true })),
  agent: fc.constantFrom('a', 'b', 'c'),
  agentVersion: fc.constantFrom('1', '2'),
  settledMs: fc.integer({ min: 0, max: 5 * BUCKET_MS }),
})

/** The sums of some scores in the metrics, from which alerts are computed. */
function oracle(scores: readonly Scored[]) {
  const nothing = { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }
  const sums = scores.reduce((sum, { probability, value }) => addWeighted(sum, probability, value), nothing)
  const failing = scores.reduce(
    (sum, { probability, value }) => addWeighted(sum, probability, Number(value < 0.5)),
    nothing,
  )
  return { runs: scores.length, mean: weightedMean(sums), failing: weightedMean(failing) }
}

const close = (value: number) => expect.closeTo(value, 9)

/** The expected summary, with a tolerance because the database adds in another order. */
function near(summary: ReturnType<typeof oracle>) {
  const { runs, mean, failing } = summary
  return {
    runs,
    failing: failing && nearMean(failing),
    mean: mean && nearMean(mean),
  }
}

function nearMean(mean: WeightedMean) {
  const entries = Object.entries(mean).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'number' ? close(value) : value,
  ])
  return { ...Object.fromEntries(entries), interval95: mean.interval95.map(close) }
}

/** An impossible difference, which represents the result if one side has no scores. */
const NO_DIFFERENCE = { mean: 9, interval95: [9, 9] } as const

it('computes the same values as the metrics in total and for each group, time and side', () => {
  let round = 0
  fc.assert(
    fc.property(fc.array(scored, { minLength: 1, maxLength: MAX_RUNS }), (scores) => {
      const scorer = `judge_${++round}`
      for (const [index, { value, probability, ...run }] of scores.entries())
        storeScoredRun(database, round * MAX_RUNS + index, { scorer, value, probability }, run)
      const over = { by: 'agent', bucketMs: BUCKET_MS, drawn: scores.map(({ agent }) => agent) } as const
      const { all, series } = withoutPause(summariseScores(database, { scorer }, over))
      expect(all).toMatchObject(near(oracle(scores)))
      const groups = Map.groupBy(scores, ({ agent }) => agent)
      expect(series.map(({ group }) => group).toSorted()).toEqual([...groups.keys()].toSorted())
      for (const { group, total, points, distribution } of series) {
        const own = groups.get(group) ?? []
        expect(total).toMatchObject(near(oracle(own)))
        expect(distribution.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1)
        const times = Map.groupBy(own, ({ settledMs }) => Math.floor(settledMs / BUCKET_MS) * BUCKET_MS)
        expect(points.map(({ timeMs }) => timeMs)).toEqual([...times.keys()].toSorted((left, right) => left - right))
        for (const { timeMs, ...point } of points) expect(point).toMatchObject(near(oracle(times.get(timeMs) ?? [])))
      }
      const [before, after] = ['1', '2'].map((version) => scores.filter(({ agentVersion }) => agentVersion === version))
      const compared = compareScores(database, { scorer, agentVersion: '1' }, { scorer, agentVersion: '2' })
      const [old, now] = [before, after].map((side) => oracle(side ?? []).failing)
      const { mean, interval95 } = old === undefined || now === undefined ? NO_DIFFERENCE : differenceOf(old, now)
      expect(compared.difference?.mean ?? NO_DIFFERENCE.mean).toBeCloseTo(mean, 9)
      expect(compared.difference?.interval95[0] ?? NO_DIFFERENCE.interval95[0]).toBeCloseTo(interval95[0], 9)
      expect(compared.difference?.interval95[1] ?? NO_DIFFERENCE.interval95[1]).toBeCloseTo(interval95[1], 9)
    }),
    { numRuns: 60 },
  )
})

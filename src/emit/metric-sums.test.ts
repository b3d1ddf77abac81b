import * as fc from 'fast-check'
import { expect, it } from 'vitest'

import type { Evaluation } from '../model/score.ts'
import { addWeighted } from '../sampling/weighted-mean.ts'
import { emittedScores } from './emitted-scores.ts'
import { positionInRange } from './position-in-range.ts'
import { NO_ATTRIBUTES, MetricSums } from './metric-sums.ts'

function evaluation(value: number, better: 'higher' | 'lower' = 'higher'): Evaluation {
  return {
    scorer: { id: 'depth', version: '1a2b3c4d', kind: 'code', range: [0, 8], better, passAt: 4, level: 'run' },
    runId: 'a:b',
    revision: 1,
    complete: true,
    probability: 0.5,
    durationMs: 0,
    score: { status: 'scored', value, label: value >= 4 ? 'pass' : 'fail' },
  }
}

function sumsOf(...evaluations: readonly Evaluation[]): Record<string, number> {
  const sums = new MetricSums(true, () => 0)
  for (const each of evaluations) sums.count(each, undefined, NO_ATTRIBUTES)
  const found: Record<string, number> = {}
  sums.gathered.drain(({ counter }, value) => (found[counter] = (found[counter] ?? 0) + value))
  return found
}

it('sums weights, positions in the range and their squares', () => {
  // Weights of 2, at a quarter and at three quarters of the range.
  expect(sumsOf(evaluation(2), evaluation(6))).toMatchObject({ w: 4, wy: 2, wy2: 1.25, w2: 8, w2y: 4, w2y2: 2.5 })
})

it('turns positions of scores of which lower is better', () => {
  expect(sumsOf(evaluation(2, 'lower'))).toMatchObject({ w: 2, wy: 1.5, wy2: 1.125, w2: 4, w2y: 3, w2y2: 2.25 })
})

it('sums a run of a scorer of calls as one cluster, which is what its events say', () => {
  const value = fc.integer({ min: 0, max: 8 })
  fc.assert(
    fc.property(fc.array(fc.array(value, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 10 }), (runs) => {
      const evaluations = runs.map((values): Evaluation => {
        const any = evaluation(values[0] ?? 0)
        const calls = values.map((each, index) => ({ index, score: evaluation(each).score }))
        return { ...any, scorer: { ...any.scorer, level: 'tool-call' }, calls }
      })
      const sums = evaluations.reduce(
        (all, each) =>
          addWeighted(
            all,
            0.5,
            ...emittedScores(each).map(({ evaluation: { score } }) =>
              score.status === 'scored' ? positionInRange(each, score.value) : Number.NaN,
            ),
          ),
        { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 },
      )
      for (const [name, sum] of Object.entries(sums)) expect(sumsOf(...evaluations)[name]).toBeCloseTo(sum, 6)
    }),
  )
})

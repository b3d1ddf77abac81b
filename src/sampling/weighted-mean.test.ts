import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { addWeighted, weightedMean } from './weighted-mean.ts'
import type { WeightedSums } from './weighted-mean.ts'

const NOTHING: WeightedSums = { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }

describe('The weighted mean', () => {
  test('is the plain mean if every run was scored', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 50 }), (ys) => {
        const result = weightedMean(ys.reduce((sums, y) => addWeighted(sums, 1, y), NOTHING))
        expect(result?.mean).toBeCloseTo(ys.reduce((sum, y) => sum + y, 0) / ys.length, 9)
        expect(result!.n).toBeLessThanOrEqual(ys.length + 1e-6)
      }),
    )
  })

  test('has the variance of its definition, Σ w²(y−ȳ)² / (Σw)², computed from the six sums', () => {
    const drawn = fc.record({
      p: fc.double({ min: 0.01, max: 1, noNaN: true }),
      y: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(fc.array(drawn, { minLength: 1, maxLength: 50 }), (runs) => {
        const total = runs.reduce((sum, { p }) => sum + 1 / p, 0)
        const mean = runs.reduce((sum, { p, y }) => sum + y / p, 0) / total
        const variance = runs.reduce((sum, { p, y }) => sum + (y - mean) ** 2 / p ** 2, 0) / total ** 2
        const result = weightedMean(runs.reduce((sums, { p, y }) => addWeighted(sums, p, y), NOTHING))
        expect(result?.mean).toBeCloseTo(mean, 9)
        expect(result?.standardError).toBeCloseTo(Math.sqrt(variance), 5)
      }),
    )
  })

  test('has Wilson’s interval: 8 of 10 that pass', () => {
    const sums = Array.from({ length: 10 }, (_, index) => (index < 8 ? 1 : 0)).reduce(
      (all, y) => addWeighted(all, 1, y),
      NOTHING,
    )
    const { n, interval95 } = weightedMean(sums)!
    expect(n).toBeCloseTo(10, 9)
    // Brown, Cai, DasGupta, "Interval Estimation for a Binomial Proportion", of 8 in 10.
    expect(interval95[0]).toBeCloseTo(0.4902, 3)
    expect(interval95[1]).toBeCloseTo(0.9433, 3)
  })

  test('has an interval even if all of a few scored runs are perfect', () => {
    const sums = addWeighted(addWeighted(NOTHING, 1, 1), 1, 1)
    expect(weightedMean(sums)!.interval95[0]).toBeLessThan(0.4)
    expect(weightedMean(sums)!.interval95[1]).toBeCloseTo(1, 9)
  })

  test('gives runs that were kept with a twentieth of the probability twenty times the weight', () => {
    const sums = addWeighted(addWeighted(NOTHING, 1, 0), 0.05, 1)
    expect(weightedMean(sums)?.mean).toBeCloseTo(20 / 21, 12)
  })

  test('is undefined if nothing was scored', () => {
    expect(weightedMean(NOTHING)).toBeUndefined()
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ppiMean } from './ppi-mean.ts'
import type { LabelledScore, PpiGroup, UnlabelledSums } from './ppi-mean.ts'

const sumsOf = (scores: readonly number[]): UnlabelledSums => ({
  w: scores.length,
  w2: scores.length,
  wf: scores.reduce((sum, score) => sum + score, 0),
  wf2: scores.reduce((sum, score) => sum + score * score, 0),
})
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const spread = (values: readonly number[]) => mean(values.map((value) => (value - mean(values)) ** 2))

const score = fc.double({ min: 0, max: 1, noNaN: true })
const labelled = fc.array(fc.record({ weight: fc.constant(1), truth: fc.constantFrom(0, 1), score }), {
  minLength: 4,
  maxLength: 40,
})

describe('the PPI++ mean', () => {
  it('follows the formula of the paper for one group: the mean of the labels, moved by λ times the difference of the means of the scores', () => {
    fc.assert(
      fc.property(labelled, fc.array(score, { minLength: 5, maxLength: 80 }), (labels, rest) => {
        const found = ppiMean([{ share: 1, labelled: labels, unlabelled: sumsOf(rest) }], 1e9)
        const moved =
          mean(labels.map(({ truth }) => truth)) + found.lambda * (mean(rest) - mean(labels.map((each) => each.score)))
        expect(found.mean).toBeCloseTo(Math.min(1, Math.max(0, moved)), 9)
        expect(found.lambda).toBeGreaterThanOrEqual(0)
        expect(found.lambda).toBeLessThanOrEqual(1)
      }),
      { seed: 3 },
    )
  })

  it('uses the λ that gives the narrowest interval', () => {
    const labels: LabelledScore[] = Array.from({ length: 60 }, (_, index) => ({
      weight: 1,
      truth: index % 3 === 0 ? 0 : 1,
      score: index % 3 === 0 ? 0.3 + (index % 5) / 10 : 0.6 + (index % 4) / 10,
    }))
    const rest = Array.from({ length: 500 }, (_, index) => 0.3 + (index % 7) / 10)
    const { lambda } = ppiMean([{ share: 1, labelled: labels, unlabelled: sumsOf(rest) }], 1e9)
    // The variance of the estimate as the paper has it, by brute force.
    const variance = (used: number) =>
      spread(labels.map(({ truth, score: f }) => truth - used * f)) / labels.length +
      (used ** 2 * spread(rest)) / rest.length
    const tried = Array.from({ length: 101 }, (_, index) => ({ used: index / 100, of: variance(index / 100) }))
    const best = tried.reduce((least, each) => (each.of < least.of ? each : least))
    expect(lambda).toBeCloseTo(best.used, 1)
    expect(lambda).toBeGreaterThan(0.5)
  })

  it('is the mean of the labels if all runs are labelled, or the scores carry no information', () => {
    const group = (scores: number): PpiGroup => ({
      share: 1,
      labelled: [0, 1, 1, 1].map((truth) => ({ weight: 1, truth, score: scores })),
      unlabelled: sumsOf([]),
    })
    expect(ppiMean([group(0.4)], 4)).toMatchObject({ mean: 0.75, lambda: 0 })
    expect(ppiMean([{ ...group(0.4), unlabelled: sumsOf([0.4, 0.4]) }], 6)).toMatchObject({ mean: 0.75, lambda: 0 })
  })
})

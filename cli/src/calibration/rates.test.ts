import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { correctedShare } from './corrected-share.ts'
import { ratesOf, wilson } from './rates.ts'
import type { VerdictGroup } from './rates.ts'

const anyShare = fc.double({ min: 0.02, max: 0.98, noNaN: true })
const labels = fc.integer({ min: 5, max: 500 })
const group = (share: number, passed: number, n: number): VerdictGroup => ({ share, passed, n })

const added = (p: number, count: number) => {
  const q = (p * count + 2) / (count + 4)
  return (q * (1 - q)) / (count + 4)
}

const isNear = (found: number, expected: number) => Math.abs(found - expected) <= 1e-4 * Math.abs(expected) + 1e-9

describe('the rates of a judge', () => {
  it('equal those of its confusion matrix, with the κ of Cohen', () => {
    // Cohen's κ of 20, 5, 10, 15 is .4.
    const rates = ratesOf(group(30 / 50, 20 / 30, 30), group(20 / 50, 5 / 20, 20), 50)
    expect(rates.confusion.tp).toBeCloseTo(20 / 50, 12)
    expect(rates.confusion.fn).toBeCloseTo(5 / 50, 12)
    expect(rates.confusion.fp).toBeCloseTo(10 / 50, 12)
    expect(rates.confusion.tn).toBeCloseTo(15 / 50, 12)
    expect(rates.sensitivity).toBeCloseTo(20 / 25, 12)
    expect(rates.specificity).toBeCloseTo(15 / 25, 12)
    expect(rates.kappa).toBeCloseTo(0.4, 12)
  })

  it('have the variances that the delta method gives with numeric derivatives', () => {
    fc.assert(
      fc.property(anyShare, anyShare, anyShare, labels, labels, (w, a, b, n, m) => {
        const runs = 1000
        const of = (dw: number, da: number, db: number) =>
          ratesOf(group(w + dw, a + da, n), group(1 - w - dw, b + db, m), runs)
        const by = (read: (rates: ReturnType<typeof of>) => number) => {
          const h = 1e-6
          return [
            (read(of(h, 0, 0)) - read(of(-h, 0, 0))) / 2 / h,
            (read(of(0, h, 0)) - read(of(0, -h, 0))) / 2 / h,
            (read(of(0, 0, h)) - read(of(0, 0, -h))) / 2 / h,
          ]
        }
        const variances = [(w * (1 - w)) / runs, added(a, n), added(b, m)]
        const product = (left: number[], right: number[]) =>
          left.reduce((sum, value, index) => sum + value * (right[index] ?? 0) * (variances[index] ?? 0), 0)
        const bySensitivity = by(({ sensitivity }) => sensitivity)
        const bySpecificity = by(({ specificity }) => specificity)
        const rates = of(0, 0, 0)
        expect(isNear(rates.sensitivityVariance, product(bySensitivity, bySensitivity))).toBe(true)
        expect(isNear(rates.specificityVariance, product(bySpecificity, bySpecificity))).toBe(true)
        expect(isNear(rates.covariance, product(bySensitivity, bySpecificity))).toBe(true)
      }),
      { seed: 1 },
    )
  })

  it('have a variance even if every label agrees with the judge', () => {
    const rates = ratesOf(group(0.9, 1, 50), group(0.1, 0, 50), 1000)
    expect([rates.sensitivity, rates.specificity]).toEqual([1, 1])
    expect(rates.sensitivityVariance).toBeGreaterThan(0)
    expect(rates.specificity95[0]).toBeLessThan(0.8)
    expect(rates.specificity95[1]).toBe(1)
  })

  it('have Wilson’s interval', () => {
    // Wilson 1927, as in Newcombe 1998, table I: 81 of 263 and 15 of 148.
    expect(wilson(81 / 263, 263).map((end) => end.toFixed(4))).toEqual(['0.2553', '0.3662'])
    expect(wilson(15 / 148, 148).map((end) => end.toFixed(4))).toEqual(['0.0624', '0.1605'])
  })
})

describe('the corrected share', () => {
  it('recovers the true share of the runs that the judge saw', () => {
    fc.assert(
      fc.property(anyShare, anyShare, anyShare, (truth, sensitivity, specificity) => {
        fc.pre(sensitivity + specificity - 1 >= 0.3)
        const passed = truth * sensitivity + (1 - truth) * (1 - specificity)
        const judge = { sensitivity, specificity, sensitivityVariance: 0, specificityVariance: 0, covariance: 0 }
        expect(correctedShare(passed, 100, judge)?.share).toBeCloseTo(truth, 9)
      }),
      { seed: 2 },
    )
  })

  it('has the variance of Rogan and Gladen if sensitivity and specificity are known from separate labels', () => {
    const [se, sp, m1, m0, n, passed] = [0.95, 0.7, 120, 60, 400, 0.8]
    const judge = {
      sensitivity: se,
      specificity: sp,
      sensitivityVariance: (se * (1 - se)) / m1,
      specificityVariance: (sp * (1 - sp)) / m0,
      covariance: 0,
    }
    const truth = (passed + sp - 1) / (se + sp - 1)
    const expected =
      ((passed * (1 - passed)) / n + (truth ** 2 * se * (1 - se)) / m1 + ((1 - truth) ** 2 * sp * (1 - sp)) / m0) /
      (se + sp - 1) ** 2
    expect(correctedShare(passed, n, judge)?.variance).toBeCloseTo(expected, 12)
  })

  it('stays within 0 to 1, and is withheld if verdicts depend too little on the run', () => {
    const judge = { sensitivityVariance: 0.001, specificityVariance: 0.001, covariance: 0 }
    expect(correctedShare(0.99, 100, { ...judge, sensitivity: 0.9, specificity: 0.9 })).toMatchObject({ share: 1 })
    expect(correctedShare(0.02, 100, { ...judge, sensitivity: 0.9, specificity: 0.9 })).toMatchObject({ share: 0 })
    expect(correctedShare(0.8, 100, { ...judge, sensitivity: 0.7, specificity: 0.59 })).toBeUndefined()
    expect(correctedShare(0.8, 100, { ...judge, sensitivity: 0.7, specificity: 0.61 })).toBeDefined()
  })
})

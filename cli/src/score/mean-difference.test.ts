import { describe, expect, it } from 'vitest'
import { MeanDifferenceSums, studentQuantile } from './mean-difference.ts'

/** The same numbers for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Counts in how many of 2,000 experiments the interval contains the true difference. */
function coverage(pairs: number, truth: number, draw: (random: () => number) => [number, number]): number {
  const random = seeded(7)
  let held = 0
  for (let experiment = 0; experiment < 2000; experiment++) {
    const sums = new MeanDifferenceSums([0, 1])
    for (let pair = 0; pair < pairs; pair++) sums.add(...draw(random))
    const [low, high] = sums.result()?.interval95 ?? [0, 0]
    if (low <= truth && truth <= high) held++
  }
  return held / 2000
}

describe('the mean of paired differences', () => {
  it('uses the quantiles of Student’s t, also beyond the table', () => {
    for (const [degrees, point] of [
      [1, 12.706],
      [5, 2.571],
      [11, 2.201],
      [30, 2.0423],
      [120, 1.9799],
      [1e6, 1.96],
    ] as const) {
      expect(studentQuantile(degrees)).toBeCloseTo(point, 3)
    }
  })

  it('has an interval with the stated coverage, for scores between and at the ends of the range', () => {
    const between = coverage(20, -0.1, (random) => [0.3 + random() * 0.4, 0.2 + random() * 0.4])
    expect(between).toBeGreaterThan(0.93)
    // 80 % passed before and 60 % pass now.
    const binary = coverage(25, -0.2, (random) => {
      const before = random() < 0.8 ? 1 : 0
      return [before, before === 1 && random() < 0.75 ? 1 : 0]
    })
    expect(binary).toBeGreaterThan(0.93)
  })

  it('is uncertain if a few pairs are equal', () => {
    const sums = new MeanDifferenceSums([0, 1])
    for (let pair = 0; pair < 5; pair++) sums.add(1, 1)
    const { mean, interval95 } = sums.result() ?? { mean: 1, interval95: [0, 0] }
    expect(mean).toBe(0)
    expect(interval95[0]).toBeLessThan(-0.2)
    expect(interval95[1]).toBeGreaterThan(0.2)
  })

  it('is undefined without a pair', () => {
    expect(new MeanDifferenceSums([0, 1]).result()).toBeUndefined()
  })
})

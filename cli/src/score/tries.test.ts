import { describe, expect, it } from 'vitest'
import { isNewlyFailing } from './tries.ts'

const all = (most: number) => Array.from({ length: most + 1 }, (_, passed) => passed)

/** The probability of `passed` of `tries` at a pass rate. */
function binomial(passed: number, tries: number, rate: number): number {
  let probability = rate ** passed * (1 - rate) ** (tries - passed)
  for (let index = 0; index < passed; index++) probability *= (tries - index) / (index + 1)
  return probability
}

/** The exact probability that a question newly fails. */
function probabilityOf(tries: readonly [before: number, now: number], rates: readonly [number, number]): number {
  return all(tries[0])
    .flatMap((before) => all(tries[1]).map((now) => [before, now] as const))
    .filter(([before, now]) => isNewlyFailing({ tries: tries[0], passed: before }, { tries: tries[1], passed: now }))
    .reduce((sum, [before, now]) => sum + binomial(before, tries[0], rates[0]) * binomial(now, tries[1], rates[1]), 0)
}

/** The highest probability of an alarm while the pass rate stays what it is. */
function falseAlarm(tries: readonly [number, number]): number {
  return Math.max(...all(200).map((step) => probabilityOf(tries, [step / 200, step / 200])))
}

const fails = (before: readonly [number, number], now: readonly [number, number]) =>
  isNewlyFailing({ passed: before[0], tries: before[1] }, { passed: now[0], tries: now[1] })

describe('a question', () => {
  it.each([
    [1, 1 / 4],
    [2, 1 / 16],
    [3, 1 / 64],
    [4, 1 / 250],
    [5, 1 / 250],
    [10, 1 / 250],
    [20, 1 / 250],
    [40, 1 / 250],
  ])('of %i tries newly fails by chance with a probability of at most %d', (tries, most) => {
    expect(falseAlarm([tries, tries])).toBeLessThanOrEqual(most)
  })

  it('newly fails by chance in at most 1 of 75 if the baseline has another number of tries', () => {
    for (const tries of [
      [4, 55],
      [55, 4],
      [20, 5],
      [5, 20],
    ] as const)
      expect(falseAlarm(tries)).toBeLessThanOrEqual(1 / 75)
  })

  it('of ten tries is found in four of five cases when its pass rate falls from 95 % to 20 %, and of twenty to 50 % in 7 of 10', () => {
    expect(probabilityOf([10, 10], [0.95, 0.2])).toBeGreaterThan(0.8)
    expect(probabilityOf([20, 20], [0.95, 0.5])).toBeGreaterThan(0.7)
  })

  it('newly fails without any try that passes, or far below the baseline', () => {
    expect(fails([1, 1], [0, 1])).toBe(true)
    expect(fails([1, 1], [0, 5])).toBe(true)
    expect(fails([2, 3], [0, 3])).toBe(false)
    expect(fails([10, 10], [4, 10])).toBe(true)
    expect(fails([10, 10], [5, 10])).toBe(false)
    expect(fails([0, 1], [1, 1])).toBe(false)
    expect(fails([1, 1], [0, 0])).toBe(false)
  })
})

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { Budget, DEFAULT_BUDGET } from './budget.ts'
import type { BudgetLimits, Cost } from './budget.ts'

const CALL: Cost = { calls: 1, tokens: 1_000, costUsd: 0.001 }
const UNLIMITED: BudgetLimits = {
  callsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerHour: Number.POSITIVE_INFINITY,
  usdPerDay: Number.POSITIVE_INFINITY,
  share: 1,
}

/** A budget, its clock, and a generator that gives the same places in every run of the test. */
function setUp(limits: Partial<BudgetLimits>) {
  const clock = { ms: 5_000_000 }
  const budget = new Budget({ ...UNLIMITED, ...limits }, () => clock.ms)
  let state = 42
  function place(): number {
    // Numerical Recipes' linear congruential generator: good enough to be uniform, and repeatable.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  function ask(estimate = CALL): boolean {
    return budget.admit({ point: place(), rate: 1, factor: budget.factor(), estimate }).admitted
  }
  return { clock, budget, place, ask }
}

/** Offers at an even rate and counts what gets through in each minute. */
function offer(perSecond: number, minutes: number, clock: { ms: number }, ask: () => boolean): number[] {
  const admitted: number[] = []
  for (let minute = 0; minute < minutes; minute += 1) {
    let count = 0
    for (let n = 0; n < perSecond * 60; n += 1) {
      clock.ms += 1_000 / perSecond
      if (ask()) count += 1
    }
    admitted.push(count)
  }
  return admitted
}

describe('A budget', () => {
  test('that is offered 100 scores a second and allows 1 reserves 1 a second', () => {
    const { clock, budget } = setUp({ callsPerMinute: 60 })
    const admitted = offer(100, 10, clock, () => budget.reserve(CALL) !== undefined)
    const total = admitted.reduce((sum, count) => sum + count, 0)
    expect(total).toBeGreaterThanOrEqual(585)
    expect(total).toBeLessThanOrEqual(600)
  })

  test('counts what was spent before against changed limits, and settles what was reserved before', () => {
    const { clock, budget } = setUp({ callsPerMinute: 60 })
    const reservations = Array.from({ length: 30 }, () => budget.reserve(CALL))
    budget.change({ ...UNLIMITED, callsPerMinute: 31 })
    expect(budget.reserve(CALL)).toBeDefined()
    expect(budget.reserve(CALL)).toBeUndefined()
    for (const reservation of reservations.slice(0, 5)) reservation?.settle({ calls: 0 })
    expect(Array.from({ length: 6 }, () => budget.reserve(CALL)).filter(Boolean)).toHaveLength(5)
    clock.ms += 62_000
    expect(Array.from({ length: 40 }, () => budget.reserve(CALL)).filter(Boolean)).toHaveLength(31)
  })

  test('never spends more than a limit in any window, whatever the requests', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 50, maxLength: 300 })
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 20 }), (waits, callsPerMinute) => {
        const { clock, ask } = setUp({ callsPerMinute })
        const times: number[] = []
        for (const wait of waits) {
          clock.ms += wait
          if (ask()) times.push(clock.ms)
        }
        for (const start of times) {
          expect(times.filter((time) => time >= start && time < start + 60_000).length).toBeLessThanOrEqual(
            callsPerMinute,
          )
        }
      }),
    )
  })

  test('with excess demand lowers the rates instead of spending a minute in its first seconds, and spends most of it', () => {
    const { clock, ask } = setUp({ callsPerMinute: 60 })
    const [first, ...later] = offer(100, 20, clock, ask)
    expect(first).toBeLessThanOrEqual(60)
    for (const count of later) expect(count).toBeGreaterThan(30)
    const mean = later.reduce((sum, count) => sum + count, 0) / later.length
    // 82 % of sixty: more of it would be refused too often because the window is full.
    expect(mean).toBeGreaterThan(46)
    expect(mean).toBeLessThanOrEqual(60)
  })

  test('with excess demand refuses almost nothing, because the lowered rate is known before the decision', () => {
    const { clock, budget, place } = setUp({ callsPerMinute: 600 })
    let drawn = 0
    let refused = 0
    offer(100, 20, clock, () => {
      const factor = budget.factor()
      const at = place()
      const { admitted } = budget.admit({ point: at, rate: 1, factor, estimate: CALL })
      if (at < factor) drawn += 1
      if (at < factor && !admitted) refused += 1
      return admitted
    })
    expect(drawn).toBeGreaterThan(9_000)
    expect(refused / drawn).toBeLessThan(0.01)
  })

  test('that would be spent in the first hours lasts the whole day', () => {
    const { clock, ask } = setUp({ usdPerDay: 10 })
    // 100 USD a day are asked for: ten times the budget.
    const perHour: number[] = []
    for (let hour = 0; hour < 48; hour += 1) {
      let count = 0
      for (let n = 0; n < 4_167; n += 1) {
        clock.ms += 3_600_000 / 4_167
        if (ask()) count += 1
      }
      perHour.push(count)
    }
    // Half the day's budget may be spent in the first hour; every hour after that still has its part of what is left.
    for (const count of perHour.slice(2)) expect(count).toBeGreaterThan(100)
    expect(perHour.slice(24).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(9_000)
    expect(perHour.slice(0, 24).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10_000)
  })

  test('with its defaults admits a dozen runs of two calls in one second', () => {
    const { clock, budget, ask } = setUp(DEFAULT_BUDGET)
    for (let run = 0; run < 12; run += 1) {
      clock.ms += 80
      expect(budget.factor()).toBe(1)
      expect(ask({ ...CALL, calls: 2 })).toBe(true)
    }
  })

  test.each([
    ['ten times the limit in a second', 600, 1_000],
    ['ten times the limit in the first minute', 600, 60_000],
    ['twice the limit in the first minute', 120, 60_000],
  ])('that has seen nothing yet represents all runs of a burst: %s', (_, runs, spanMs) => {
    const sums = { asked: 0, admitted: 0, chosen: 0 }
    let least = 1
    const { clock, budget, place } = setUp({ callsPerMinute: 60 })
    for (let burst = 0; burst < 200; burst += 1) {
      clock.ms += 3_600_000
      for (let run = 0; run < runs; run += 1) {
        clock.ms += spanMs / runs
        const factor = budget.factor()
        const admission = budget.admit({ point: place(), rate: 1, factor, estimate: CALL })
        sums.asked += 1
        if (admission.admitted) sums.admitted += 1 / factor
        if (admission.admitted || admission.reason === 'refused') sums.chosen += 1 / factor
        least = Math.min(least, factor)
      }
    }
    expect(least).toBeGreaterThan(1 / 1000)
    expect(sums.chosen / sums.asked).toBeCloseTo(1, 1)
    expect(sums.admitted / sums.chosen).toBeGreaterThan(spanMs > 1_000 && runs === 600 ? 0.8 : 0.95)
  })

  test('does not lower demand that it can pay for', () => {
    const { clock, budget, ask } = setUp(DEFAULT_BUDGET)
    const admitted = offer(0.4, 10, clock, () => {
      expect(budget.factor()).toBe(1)
      return ask()
    })
    expect(admitted).toEqual(Array.from({ length: 10 }, () => 24))
  })

  test.each([3, 10, 60])(
    'of %d calls a minute, with twenty times the demand, loses few of the chosen runs',
    (callsPerMinute) => {
      const { clock, budget, place } = setUp({ callsPerMinute })
      let asked = 0
      const sums = { admitted: 0, refused: 0 }
      offer(callsPerMinute / 3, 1000, clock, () => {
        const factor = budget.factor()
        const admission = budget.admit({ point: place(), rate: 1, factor, estimate: CALL })
        asked += 1
        if (admission.admitted) sums.admitted += 1 / factor
        else if (admission.reason === 'refused') sums.refused += 1 / factor
        return admission.admitted
      })
      expect(sums.admitted / (sums.admitted + sums.refused)).toBeGreaterThan(0.95)
      expect((sums.admitted + sums.refused) / asked).toBeCloseTo(1, 1)
    },
  )

  test('says what to do when it refuses', () => {
    const { budget } = setUp({ callsPerMinute: 3 })
    for (let call = 0; call < 3; call += 1) budget.reserve(CALL)
    expect(budget.usedRatio()).toBe(1)
    const refused = budget.admit({ point: 0, rate: 1, factor: 1, estimate: CALL })
    expect(refused).toEqual({
      admitted: false,
      reason: 'refused',
      message: "budget.callsPerMinute (3) is used up; raise it, or lower the scorer's sample.",
    })
  })

  test('refuses a score that costs more than the whole budget, with that reason', () => {
    const { budget } = setUp({ usdPerDay: 0.01 })
    const refused = budget.admit({ point: 0, rate: 1, factor: 1, estimate: { ...CALL, costUsd: 0.02 } })
    expect(refused).toMatchObject({
      admitted: false,
      message: expect.stringContaining('more than all of budget.usdPerDay'),
    })
  })

  test('reserves nothing in any limit if one of them has no room', () => {
    const { budget } = setUp({ callsPerMinute: 100, tokensPerHour: 1_500 })
    expect(budget.reserve(CALL)).toBeDefined()
    const before = budget.usedRatio()
    expect(budget.reserve(CALL)).toBeUndefined()
    expect(budget.usedRatio()).toBe(before)
  })

  test('returns the unused part of a reservation once', () => {
    const { budget } = setUp({ tokensPerHour: 10_000 })
    const [first] = Array.from({ length: 10 }, () => budget.reserve(CALL))
    expect(budget.reserve(CALL)).toBeUndefined()
    first!.settle({ calls: 1, tokens: 0 })
    first!.settle({ calls: 1, tokens: 0 })
    expect(budget.usedRatio()).toBeCloseTo(0.9, 9)
    expect(budget.reserve(CALL)).toBeDefined()
    expect(budget.reserve(CALL)).toBeUndefined()
  })

  test('counts costs above the reservation', () => {
    const { budget } = setUp({ usdPerDay: 1 })
    budget.reserve({ calls: 1, tokens: 10, costUsd: 0.1 })!.settle({ calls: 2, tokens: 20, costUsd: 0.4 })
    expect(budget.usedRatio()).toBeCloseTo(0.4, 9)
  })

  test('keeps a reservation in dollars if the reply has no cost, and counts no dollars without a price', () => {
    const { budget } = setUp({ usdPerDay: 1 })
    budget.reserve({ calls: 1, tokens: 10, costUsd: 0.3 })!.settle({ calls: 1, tokens: 10 })
    budget.reserve({ calls: 1, tokens: 10 })
    expect(budget.usedRatio()).toBeCloseTo(0.3, 9)
  })

  test('shared by forty processes gives each a fortieth', () => {
    const { clock, budget } = setUp({ callsPerMinute: 60, share: 1 / 40 })
    const total = offer(10, 40, clock, () => budget.reserve(CALL) !== undefined).reduce((sum, count) => sum + count, 0)
    // 1.5 a minute: a whole call each minute, and one more in time only where whole calls fit.
    expect(total).toBeGreaterThanOrEqual(39)
    expect(total).toBeLessThanOrEqual(60)
  })

  test('with a share of less than ten calls a minute admits ten calls in a longer window', () => {
    const { clock, budget } = setUp({ callsPerMinute: 10, share: 1 / 40 })
    const admitted = offer(1, 40, clock, () => budget.reserve(CALL) !== undefined)
    expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(10)
  })

  test('of zero admits nothing', () => {
    const { budget } = setUp({ callsPerMinute: 0 })
    expect(budget.reserve(CALL)).toBeUndefined()
    expect(budget.usedRatio()).toBe(1)
  })

  test('without limits admits everything', () => {
    const { clock, budget, ask } = setUp({})
    expect(offer(1_000, 1, clock, ask)).toEqual([60_000])
    expect([budget.factor(), budget.usedRatio()]).toEqual([1, 0])
  })

  test('does not forget what was spent when its clock goes back', () => {
    const { clock, budget } = setUp({ callsPerMinute: 2 })
    budget.reserve(CALL)
    budget.reserve(CALL)
    clock.ms -= 3_600_000
    expect(budget.reserve(CALL)).toBeUndefined()
  })
})

import { expect, it } from 'vitest'

import { Budget, DEFAULT_BUDGET } from './budget.ts'

/** A minute of each second's runs by service, and how many of them are admitted. */
function play(seconds: readonly Readonly<Record<string, number>>[]) {
  let nowMs = 1_000_000
  let seed = 7
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
  const budget = new Budget({ ...DEFAULT_BUDGET, usdPerDay: Number.POSITIVE_INFINITY }, () => nowMs)
  return seconds.map((asked) => {
    const admitted: Record<string, number> = {}
    if (Object.keys(asked).length === 0) nowMs += 1000
    for (const [service, count] of Object.entries(asked)) {
      for (let index = 0; index < count; index++) {
        nowMs += 1000 / count / Object.keys(asked).length
        const factor = budget.factor(service)
        const decision = budget.admit({ point: random(), rate: 1, factor, estimate: { calls: 1 }, service })
        if (decision.admitted) admitted[service] = (admitted[service] ?? 0) + 1
      }
    }
    return admitted
  })
}

const sum = (seconds: ReturnType<typeof play>, service: string): number =>
  seconds.reduce((total, admitted) => total + (admitted[service] ?? 0), 0)

it('a service keeps its part of the judges beside the flood of another, and all of it after the flood', () => {
  const alone = Array.from({ length: 15 }, () => ({ shop: 1 }))
  const flood = Array.from({ length: 40 }, () => ({ shop: 1, flood: 200 }))
  const pause = Array.from({ length: 6 }, () => ({}))
  const after = Array.from({ length: 20 }, () => ({ shop: 1 }))
  const played = play([...alone, ...flood, ...pause, ...after])
  expect(sum(played.slice(0, 15), 'shop')).toBe(15)
  expect(sum(played.slice(15, 55), 'shop')).toBeGreaterThanOrEqual(20)
  expect(sum(played.slice(61), 'shop')).toBeGreaterThanOrEqual(15)
})

it('what one service leaves goes to the others, and no minute has more calls than the limit', () => {
  const seconds = Array.from({ length: 180 }, (_, second) => ({ flood: 50, ...(second % 10 === 0 && { shop: 1 }) }))
  const played = play(seconds)
  expect(sum(played.slice(60), 'shop')).toBeGreaterThanOrEqual(10)
  expect(sum(played.slice(60), 'flood')).toBeGreaterThan(60)
  for (let from = 0; from + 60 <= 180; from++)
    expect(sum(played.slice(from, from + 60), 'flood') + sum(played.slice(from, from + 60), 'shop')).toBeLessThan(62)
})

it('services with equal demand get equal parts', () => {
  const played = play(Array.from({ length: 300 }, () => ({ a: 20, b: 20, c: 20 })))
  const [a, b, c] = ['a', 'b', 'c'].map((service) => sum(played.slice(60), service))
  for (const each of [a, b, c]) expect(each).toBeGreaterThan(0.8 * (((a ?? 0) + (b ?? 0) + (c ?? 0)) / 3))
})

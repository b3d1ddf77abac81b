import { expect, it } from 'vitest'

import { BoundedSet } from './bounded-set.ts'

it('remembers at least half as many of the latest values as its limit, and forgets older ones', () => {
  const set = new BoundedSet(10)
  for (let value = 0; value < 100; value += 1) {
    set.add(String(value))
    for (let recent = Math.max(0, value - 4); recent <= value; recent += 1) expect(set.has(String(recent))).toBe(true)
  }
  expect(set.has('89')).toBe(false)
})

it('takes as long to add a value to a full set as to an empty one', () => {
  const set = new BoundedSet(50_000)
  const [first, ...later] = Array.from({ length: 8 }, (_, round) => {
    const startMs = performance.now()
    for (let value = 0; value < 50_000; value += 1) set.add(`${round}:${value}`)
    return performance.now() - startMs
  })
  // With the removal of single values, it took over 100 times as long.
  expect(Math.min(...later)).toBeLessThan((first ?? 0) * 10)
})

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

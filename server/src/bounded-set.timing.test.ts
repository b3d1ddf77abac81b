import { expect, it } from 'vitest'

import { BoundedSet } from './bounded-set.ts'

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

import { expect, it } from 'vitest'

import { BoundedMap } from './bounded-map.ts'

it('takes as long to add an entry to a full map as to an empty one', () => {
  const map = new BoundedMap<string, boolean>(50_000)
  const [first, ...later] = Array.from({ length: 8 }, (_, round) => {
    const startMs = performance.now()
    for (let value = 0; value < 50_000; value += 1) map.set(`${round}:${value}`, true)
    return performance.now() - startMs
  })
  // With the removal of single entries, it took over 100 times as long.
  expect(Math.min(...later)).toBeLessThan((first ?? 0) * 10)
})

import { expect, it } from 'vitest'

import { BoundedMap } from './bounded-map.ts'

it('keeps at least half of the latest entries, and never more than its size', () => {
  const map = new BoundedMap<number, boolean>(10)
  for (let key = 0; key < 1000; key += 1) {
    map.set(key, false)
    const kept = Array.from({ length: 1000 }, (_, index) => index).filter((index) => map.get(index) !== undefined)
    expect(kept.length).toBeLessThanOrEqual(10)
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => key - kept.length + 1 + index))
    expect(kept.length).toBeGreaterThanOrEqual(Math.min(5, key + 1))
  }
})

it('gives the value that was set last', () => {
  const map = new BoundedMap<string, number>(4)
  for (const value of [1, 2, 3]) {
    map.set('a', value)
    map.set(`other ${value}`, value)
    expect(map.get('a')).toBe(value)
  }
})

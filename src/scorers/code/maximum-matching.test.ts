import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { maximumMatching } from './maximum-matching.ts'

function matched(left: number, right: number, fits: (left: number, right: number) => boolean) {
  const all = [...Array.from({ length: right }).keys()]
  return maximumMatching(Array.from({ length: left }, (_, index) => all.filter((other) => fits(index, other))))
}

/** All ways, tried one after the other. */
function bruteForce(
  left: number,
  right: number,
  fits: readonly (readonly boolean[])[],
  taken = new Set<number>(),
): number {
  if (left === 0) return 0
  const index = left - 1
  let best = bruteForce(index, right, fits, taken)
  for (let partner = 0; partner < right; partner++) {
    if (taken.has(partner) || !(fits[index]?.[partner] ?? false)) continue
    best = Math.max(best, 1 + bruteForce(index, right, fits, new Set([...taken, partner])))
  }
  return best
}

describe('maximum matching', () => {
  it('finds as many pairs as an exhaustive search, each one allowed and none twice', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), { maxLength: 6 }), (fits) => {
        const partners = matched(fits.length, 5, (left, right) => fits[left]?.[right] ?? false)
        const pairs = partners.flatMap((right, left) => (right === undefined ? [] : [{ left, right }]))
        expect(pairs.every(({ left, right }) => fits[left]?.[right] ?? false)).toBe(true)
        expect(new Set(pairs.map(({ right }) => right)).size).toBe(pairs.length)
        expect(pairs.length).toBe(bruteForce(fits.length, 5, fits))
      }),
      { numRuns: 500 },
    )
  })

  it('finds pairs that a greedy choice would miss', () => {
    const fits = [
      [true, true],
      [true, false],
    ]
    expect(matched(2, 2, (left, right) => fits[left]?.[right] ?? false)).toEqual([1, 0])
  })

  it('pairs a thousand with a thousand if each fits its neighbours only', () => {
    const partners = matched(1000, 1000, (left, right) => right === left || right === left - 1)
    expect(partners.every((partner) => partner !== undefined)).toBe(true)
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { KnownIds } from './known-ids.ts'

/** Ids that often repeat, and that often share their last three characters. */
const id = fc.oneof(
  fc.integer({ min: 0, max: 99 }).map((number) => `call-${number}`),
  fc.integer({ min: 0, max: 99 }).map((number) => `${number}-of-the-same-ending`),
  fc.string({ minLength: 1, maxLength: 3 }),
  fc.string({ minLength: 1, unit: 'grapheme' }),
)

describe('KnownIds', () => {
  it('contains the same ids as a set, however many there are and however they end', () => {
    fc.assert(
      fc.property(
        fc.array(id, { maxLength: 400, size: 'max' }),
        fc.nat(5000),
        fc.nat(400),
        (ids, count, expectedAt) => {
          const [known, set] = [new KnownIds(), new Set<string>()]
          for (const [index, next] of ids.entries()) {
            if (index === expectedAt) known.expect(count)
            expect(known.has(next)).toBe(set.has(next))
            expect(known.add(next)).toBe(!set.has(next))
            set.add(next)
          }
          for (const added of set) expect(known.has(added)).toBe(true)
        },
      ),
    )
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSeededRandom, draw } from './draw.ts'
import type { Drawable } from './draw.ts'

const drawable: fc.Arbitrary<Drawable> = fc.record({
  label: fc.constantFrom('pass', 'fail'),
  weight: fc.constantFrom(1, 2, 20, 1000),
})

describe('a draw', () => {
  it('gives as many as were asked for, each once, half of each verdict where there are so many', () => {
    fc.assert(
      fc.property(
        fc.array(drawable, { maxLength: 60 }),
        fc.integer({ min: 0, max: 80 }),
        fc.integer(),
        (all, n, seed) => {
          const drawn = draw(all, n, createSeededRandom(seed))
          expect(drawn).toHaveLength(Math.min(n, all.length))
          expect(new Set(drawn.map(({ of }) => of)).size).toBe(drawn.length)
          const failed = all.filter(({ label }) => label === 'fail').length
          expect(drawn.filter(({ of }) => of.label === 'fail').length).toBeGreaterThanOrEqual(Math.min(failed, n >> 1))
          for (const { drawProbability } of drawn) {
            expect(drawProbability).toBeGreaterThan(0)
            expect(drawProbability).toBeLessThanOrEqual(1)
          }
          expect(draw(all, n, createSeededRandom(seed))).toEqual(drawn)
        },
      ),
      { seed: 4 },
    )
  })

  it('takes each with the probability that it records', () => {
    const all = [1, 1, 2, 4, 20, 1, 3, 1].map((weight, index) => ({
      label: index % 4 === 3 ? ('fail' as const) : ('pass' as const),
      weight,
      index,
    }))
    const random = createSeededRandom(5)
    const times = all.map(() => 0)
    const recorded = all.map(() => 0)
    const draws = 20_000
    for (let round = 0; round < draws; round++) {
      for (const { of, drawProbability } of draw(all, 4, random)) {
        times[of.index] = (times[of.index] ?? 0) + 1
        recorded[of.index] = drawProbability
      }
    }
    for (const [index, count] of times.entries()) expect(count / draws).toBeCloseTo(recorded[index] ?? 0, 1.8)
    // A score that represents more runs is drawn more often; one that is too heavy for its share is always drawn.
    expect(recorded[4]).toBe(1)
    expect((recorded[2] ?? 0) / (recorded[0] ?? 0)).toBeCloseTo(2, 9)
  })
})

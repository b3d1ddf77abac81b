import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSeededRandom, draw } from './draw.ts'
import type { Drawable } from './draw.ts'

const drawable: fc.Arbitrary<Drawable> = fc.record({
  label: fc.constantFrom('pass', 'fail'),
  weight: fc.constantFrom(1, 2, 20, 1000),
})

const failsOf = (drawn: readonly { readonly of: Drawable }[]) => drawn.filter(({ of }) => of.label === 'fail').length

describe('a draw', () => {
  it('draws the requested number of scores, each once, and both verdicts if there are two', () => {
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
          const verdicts = new Set(drawn.map(({ of }) => of.label)).size
          expect(verdicts).toBe(failed > 0 && failed < all.length ? Math.min(2, n) : Math.min(1, n, all.length))
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

  it('draws each score with the probability that it records', () => {
    const all = [1, 1, 2, 4, 20, 1, 3, 1].map((weight, index) => ({
      label: index % 4 === 3 ? ('fail' as const) : ('pass' as const),
      weight,
      index,
    }))
    const random = createSeededRandom(5)
    const counted = all.map(() => 0)
    const ratios: number[] = []
    const draws = 20_000
    for (let round = 0; round < draws; round++) {
      const drawn = draw(all, 4, random)
      for (const { of, drawProbability } of drawn) {
        counted[of.index] = (counted[of.index] ?? 0) + 1 / drawProbability / draws
      }
      const probabilityOf = (index: number) => drawn.find(({ of }) => of.index === index)?.drawProbability
      // A score that represents more runs is drawn more often; one that is too heavy for its share is always drawn.
      expect(probabilityOf(4)).toBe(1)
      const [light, twice] = [probabilityOf(0), probabilityOf(2)]
      if (light !== undefined && twice !== undefined && twice < 1) ratios.push(twice / light)
    }
    expect(ratios.length).toBeGreaterThan(100)
    for (const ratio of ratios) expect(ratio).toBeCloseTo(2, 9)
    // Counted by its weight, each score is there once on average.
    for (const count of counted) expect(count).toBeCloseTo(1, 1)
  })

  it('gives a score probabilities that follow from its weight alone, so that they do not show its verdict', () => {
    fc.assert(
      fc.property(
        fc.array(drawable, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 80 }),
        fc.integer(),
        (all, n, seed) => {
          const byWeight = new Map<number, unknown>()
          for (const { of, drawProbability, byVerdict } of draw(all, n, createSeededRandom(seed))) {
            expect(byVerdict[of.label]).toBe(drawProbability)
            for (const each of Object.values(byVerdict)) {
              expect(each).toBeGreaterThan(0)
              expect(each).toBeLessThanOrEqual(1)
            }
            expect(byVerdict).toEqual(byWeight.get(of.weight) ?? byVerdict)
            byWeight.set(of.weight, byVerdict)
          }
        },
      ),
      { seed: 12 },
    )
  })

  it('has no fixed number of fails, so that the verdict of the last score does not follow from those before', () => {
    const all = Array.from({ length: 200 }, (_, index) => ({
      label: index % 2 ? ('pass' as const) : ('fail' as const),
      weight: 1,
    }))
    const random = createSeededRandom(8)
    const draws = Array.from({ length: 4000 }, () => draw(all, 20, random))
    const fails = draws.map(failsOf)
    const mean = fails.reduce((sum, each) => sum + each, 0) / draws.length
    expect(mean).toBeCloseTo(10, 0)
    expect(fails.reduce((sum, each) => sum + (each - mean) ** 2, 0) / draws.length).toBeCloseTo(20 / 4, 0)
    const balanced = draws.filter((drawn) => failsOf(drawn.slice(0, 19)) === 10)
    expect(failsOf(balanced.flatMap((drawn) => drawn.slice(19))) / balanced.length).toBeCloseTo(0.5, 1)
  })
})

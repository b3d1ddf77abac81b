import { describe, expect, it } from 'vitest'
import { createSeededRandom } from './draw.ts'
import { evidenceOfFall, PAGE_NATS, surelyReached, TICKET_NATS } from './evidence.ts'

/** A judge on a labelled set: with which probability it agrees on each run. */
type NoisyJudge = readonly number[]

/** One that is nearly sure of most runs and tosses a coin over the rest. */
const noisy = (runs: number, undecided: number): NoisyJudge =>
  Array.from({ length: runs }, (_, index) => (index < runs * undecided ? 0.5 : 0.99))

function judge(set: NoisyJudge, random: () => number): { runs: number; agreed: number } {
  return { runs: set.length, agreed: set.filter((agrees) => random() < agrees).length }
}

const sum = (passes: readonly { runs: number; agreed: number }[]) => ({
  runs: passes.reduce((total, { runs }) => total + runs, 0),
  agreed: passes.reduce((total, { agreed }) => total + agreed, 0),
})

/** The days on which a page would come: the last pass, or a week that the last pass goes along with. */
function pages(passes: readonly { runs: number; agreed: number }[], level: number): number[] {
  return passes.flatMap((last, day) => {
    const ofLast = evidenceOfFall(last, level) ?? 0
    const ofWeek = evidenceOfFall(sum(passes.slice(Math.max(0, day - 6), day + 1)), level) ?? 0
    return ofLast > PAGE_NATS || (ofWeek > PAGE_NATS && ofLast > 0) ? [day] : []
  })
}

describe('evidence that a judge has drifted', () => {
  it('follows the formula of docs/reference/evidence.md', () => {
    const [level, fall] = [0.9, 0.2]
    const expected = 30 * Math.log(0.3 / 0.1) + 50 * Math.log((level - fall) / level)
    expect(evidenceOfFall({ runs: 80, agreed: 50 }, level)).toBeGreaterThanOrEqual(expected)
    expect(evidenceOfFall({ runs: 80, agreed: 80 }, level)).toBeLessThan(0)
    expect(evidenceOfFall({ runs: 80, agreed: 0 }, 0.05)).toBeUndefined()
  })

  it('does not page in sixty years if a judge is only noisy', () => {
    const random = createSeededRandom(8)
    let found = 0
    let tickets = 0
    for (let year = 0; year < 60; year++) {
      const set = noisy(year % 2 === 0 ? 100 : 30, year % 3 === 0 ? 0.4 : 0.1)
      const level = surelyReached(sum([judge(set, random), judge(set, random), judge(set, random)]))
      const passes = Array.from({ length: 365 }, () => judge(set, random))
      found += pages(passes, level).length
      tickets += passes.filter((pass) => (evidenceOfFall(pass, level) ?? 0) > TICKET_NATS).length
    }
    expect(found).toBe(0)
    expect(tickets).toBe(0)
  })

  it('finds within a week that a judge agrees on a quarter fewer of a hundred runs', () => {
    const random = createSeededRandom(9)
    const before = noisy(100, 0.1)
    const after = before.map((agrees, index) => (index % 4 === 3 ? 0.02 : agrees))
    for (let round = 0; round < 50; round++) {
      const level = surelyReached(sum([judge(before, random), judge(before, random), judge(before, random)]))
      const passes = Array.from({ length: 7 }, () => judge(after, random))
      expect(pages(passes, level)[0]).toBeLessThan(7)
    }
  })
})

import { describe, expect, it } from 'vitest'
import { CAUSES, simulateDay } from '../../scripts/simulate/agent-day.ts'
import { commonOfDay, namesFirst } from '../../scripts/simulate/common-traits.ts'
import { createRandom } from '../../scripts/simulate/random.ts'
import { withoutPause } from '../scoring/background.ts'
import { changedTraits, commonTraits } from './common-traits.ts'
import { traitText } from './trait.ts'
import type { Trait } from './trait.ts'
import { TraitTable } from './trait-table.ts'
import type { TraitRun } from './trait-table.ts'

/** Runs of which `failing` of `runs` fail, with these traits. */
type Group = readonly [failing: number, runs: number, traits: readonly string[]]

function toTrait(text: string): Trait {
  const [key = '', value = ''] = text.split(' = ')
  return { key: key.replace('!', ''), value, ...(key.startsWith('!') && { isSymptom: true }) }
}

function compare(groups: readonly Group[], before: readonly Group[] = [], weight = 1) {
  const table = new TraitTable()
  const toRuns = (all: readonly Group[]): TraitRun[] =>
    all.flatMap(([failing, runs, traits], group) =>
      Array.from({ length: runs }, (_, index) => ({
        traceId: `${group}-${index}`,
        fails: index < failing,
        weight,
        traits: table.add(traits.map(toTrait)),
      })),
    )
  const [now, past] = [toRuns(groups), toRuns(before)]
  return {
    found: withoutPause(commonTraits(now, past, table)),
    changed: withoutPause(changedTraits(past, now, table)),
  }
}

const linesOf = ({ found }: ReturnType<typeof compare>) => found.common.map(({ traits }) => traits.map(traitText))

/** The causes that are not named first, on days with so many runs since they began. */
function missedOf(runs: number): readonly (string | undefined)[] {
  return CAUSES.filter((causes, index) => {
    const found = commonOfDay({ runs: runs * 1.5, rate: 0.04, causes }, createRandom(index * 31))
    const wanted = causes.flatMap(({ traits }) => traits)
    return !namesFirst(found, wanted)
  }).map(([cause]) => cause?.name)
}

describe('what failing runs have in common', () => {
  it('is the trait that explains them, with its rates, and what is left', () => {
    const { found } = compare(
      [
        [90, 100, ['app.language = de']],
        [16, 400, ['app.language = en']],
      ],
      [
        [2, 100, ['app.language = de']],
        [8, 200, ['app.language = en']],
      ],
    )
    expect(found).toMatchObject({
      runs: 500,
      failing: 106,
      before: { runs: 300 },
      common: [
        {
          traits: [{ key: 'app.language', value: 'de' }],
          runs: 100,
          failing: 90,
          rate: 0.9,
          rateWithout: 0.04,
          rateBefore: 0.02,
          examples: ['0-89', '0-88'],
        },
      ],
      left: { runs: 400, rate: 0.04 },
    })
  })

  it('names the narrower of two traits that contain each other, if it explains the failures', () => {
    const both = compare([
      [80, 100, ['tool called = invoice', 'failed tool = invoice']],
      [4, 100, ['tool called = invoice']],
      [20, 500, ['tool called = search']],
    ])
    expect(linesOf(both)).toEqual([['failed tool = invoice']])
  })

  it('lists traits of the same runs in one line, what precedes a failure first, and symptoms last', () => {
    const same = ['!tool_errors = fail', 'question word = ist', 'app.language = de', 'service.version = 2']
    expect(
      linesOf(
        compare([
          [90, 100, same],
          [10, 400, ['service.version = 1']],
        ]),
      ),
    ).toEqual([['service.version = 2', 'app.language = de', 'question word = ist', 'tool_errors = fail']])
  })

  it('puts a trait that is the failure itself behind one that precedes it', () => {
    const toolErrors = compare([
      [90, 90, ['failed tool = track', 'tool called = track']],
      [0, 20, ['tool called = track']],
      [0, 400, ['tool called = search']],
    ])
    expect(linesOf(toolErrors)).toEqual([['tool called = track', 'failed tool = track']])
    expect(
      linesOf(
        compare([
          [40, 40, ['failed tool = a']],
          [0, 400, ['x = 1']],
        ]),
      ),
    ).toEqual([['failed tool = a']])
  })

  it('puts a trait that came before the failure first, even if exactly the failing runs have it', () => {
    const [line] = compare([
      [20, 20, ['app.plan = free', 'turn = 1', 'failed tool = track']],
      [0, 20, ['app.plan = team', 'turn = 1']],
      [0, 80, ['app.plan = team', 'turn = 2']],
    ]).found.common
    expect(line).toMatchObject({ runs: 20, failing: 20 })
    expect(line?.traits.map(traitText)).toEqual(['app.plan = free', 'failed tool = track'])
  })

  it('finds two causes, one after the other, and one more trait within a cause', () => {
    const { found } = compare([
      [70, 100, ['app.language = de', 'app.plan = free']],
      [2, 100, ['app.language = de', 'app.plan = team']],
      [60, 70, ['cloud.region = eu']],
      [20, 600, ['app.plan = team']],
    ])
    expect(found.common.map(({ traits: [first] }) => first && traitText(first))).toEqual(
      expect.arrayContaining(['cloud.region = eu']),
    )
    const within = compare([
      [57, 100, ['app.language = de', 'app.plan = free']],
      [8, 150, ['app.language = de', 'app.plan = team']],
      [20, 900, ['app.language = en', 'app.plan = free']],
      [20, 900, ['app.language = en', 'app.plan = team']],
    ])
    expect(within.found.common[0]).toMatchObject({
      traits: [{ key: 'app.language', value: 'de' }],
      and: { trait: { key: 'app.plan', value: 'free' }, runs: 100, failing: 57, rate: 0.57 },
    })
  })

  it('is nothing where nothing is, and says how many failing runs would be needed', () => {
    const even = compare([
      [50, 500, ['app.language = de']],
      [50, 500, ['app.language = en']],
    ])
    expect(even.found).toMatchObject({ common: [], left: { runs: 1000 } })
    expect(even.found.needed).toBeUndefined()
    const few = compare([
      [3, 30, ['app.language = de']],
      [3, 30, ['app.language = en']],
    ])
    expect(few.found.needed).toBeGreaterThan(6)
    expect(few.found.needed).toBeLessThan(60)
  })

  it('counts runs that represent many by their effective number', () => {
    const groups: readonly Group[] = [
      [3, 12, ['app.plan = free']],
      [15, 200, ['app.plan = team']],
    ]
    const sampled = compare(groups, [], 20).found
    const whole = compare(groups).found
    expect(sampled.common).toEqual(whole.common)
    // Five runs that count for a hundred each are five runs.
    const table = new TraitTable()
    const traits = table.add([{ key: 'app.plan', value: 'free' }])
    const runs: TraitRun[] = [
      ...Array.from({ length: 5 }, (_, index) => ({ traceId: `a${index}`, fails: index < 2, weight: 100, traits })),
      ...Array.from({ length: 500 }, (_, index) => ({
        traceId: `b${index}`,
        fails: index < 50,
        weight: 1,
        traits: [],
      })),
    ]
    expect(withoutPause(commonTraits(runs, [], table)).common).toEqual([])
  })

  it('does not try values that each few runs have', () => {
    const groups: Group[] = Array.from({ length: 80 }, (_, index) => [
      index === 0 ? 8 : 0,
      8,
      [`app.customer = ${index}`],
    ])
    expect(linesOf(compare([...groups, [2, 100, []]]))).toEqual([])
  })

  it('says what changed among all runs, the largest change first', () => {
    const { changed } = compare(
      [
        [0, 100, ['service.version = 2', 'model = a']],
        [0, 100, ['service.version = 2', 'model = b']],
      ],
      [[0, 200, ['service.version = 1', 'model = a']]],
    )
    expect(changed.map(({ trait, from, to }) => [traitText(trait), from, to])).toEqual([
      ['service.version = 2', 0, 1],
      ['model = b', 0, 0.5],
    ])
  })

  it('names the planted cause of simulated days first, of 600 and of 200 runs', () => {
    expect(missedOf(600)).toEqual([])
    expect(missedOf(200).length).toBeLessThanOrEqual(1)
  })

  it('names nothing on simulated days without a cause', () => {
    for (let day = 0; day < 15; day += 1) {
      const found = commonOfDay({ runs: 450, rate: [0.04, 0.2, 0.5][day % 3] ?? 0, causes: [] }, createRandom(day))
      expect(found.common).toEqual([])
    }
    expect([...simulateDay({ runs: 3, rate: 0, causes: [] }, createRandom(1))]).toHaveLength(3)
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { withoutPause } from 'spanscore/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { commonOf } from '../../src/page/store/common.ts'
import { forgetTraces } from '../../src/page/store/forget-person.ts'
import { first, openPageDatabase, openTemporaryDatabase } from '../../src/page/store/page-database.ts'
import { listRuns } from '../../src/page/store/run-list.ts'
import { summariseScores } from '../../src/page/store/score-sums.ts'
import { forgetTraits, TraitStore, UnusedTraits } from '../../src/page/store/traits.ts'
import { saveScore } from '../../src/page/store/run-writer.ts'
import { madeScore, runIdAt, storeScoredRun } from './made-score.ts'

const HOUR_MS = 3_600_000
const NOW_MS = 100 * HOUR_MS

const folder = mkdtempSync(join(tmpdir(), 'spanscore-why-'))
const database = openPageDatabase(folder)

/** Runs of ten hours: version 2 from the sixth on, whose runs on the free plan fail. */
beforeAll(() => {
  const traits = new TraitStore(database)
  for (let index = 0; index < 1000; index++) {
    const settledMs = NOW_MS - 10 * HOUR_MS + index * 36_000
    const isNew = index >= 500
    const plan = index % 3 === 0 ? 'free' : 'paid'
    const fails = isNew && plan === 'free' ? index % 10 > 0 : index % 40 === 7
    storeScoredRun(database, index + 1, { value: fails ? 0 : 1 }, { settledMs, service: index % 2 === 0 ? 'eu' : 'us' })
    const seq = first<{ seq: number }>(database, 'SELECT seq FROM runs WHERE id = ?', runIdAt(index + 1))?.seq ?? 0
    traits.save(seq, [
      { key: 'service.version', value: isNew ? '2' : '1' },
      { key: 'app.plan', value: plan },
      { key: 'question word', value: `word${index % 7}` },
    ])
  }
})

afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const why = (change = {}) =>
  withoutPause(commonOf(database, { scorer: 'judge', fromMs: NOW_MS - 5 * HOUR_MS, ...change }, NOW_MS))

describe('what failing runs have in common', () => {
  it('names the trait, its rates, and runs to look at', () => {
    const [line] = why()?.found.common ?? []
    expect(line?.traits).toEqual([{ key: 'app.plan', value: 'free' }])
    expect(line?.rate).toBeGreaterThan(0.85)
    expect(line?.rateBefore).toBeLessThan(0.1)
    expect(line?.examples).toHaveLength(2)
    for (const id of line?.examples ?? []) expect(id).toMatch(/^[0-9a-f]{32}:[0-9a-f]{16}$/)
  })

  it('says what changed among all runs, and when', () => {
    const answer = why()
    expect(answer?.changed[0]).toMatchObject({ trait: { key: 'service.version', value: '2' }, from: 0, to: 1 })
    expect(answer?.changes).toEqual([{ timeMs: NOW_MS - 5 * HOUR_MS, key: 'service.version', value: '2' }])
  })

  it.each([
    ['another in each run', (index: number) => `made for run ${index}`],
    ['another in each run, but for a frequent one', (index: number) => (index % 4 === 1 ? 'none found' : `${index}`)],
    ['one of six in turn', (index: number) => `made of documents ${index % 6}`],
  ])('says of no prompt that it began if there is %s', (_, promptOf) => {
    const few = openTemporaryDatabase()
    const traits = new TraitStore(few)
    for (let index = 0; index < 120; index++) {
      storeScoredRun(few, index, { value: index % 2 }, { settledMs: NOW_MS + index * 1000 })
      const seq = first<{ seq: number }>(few, 'SELECT seq FROM runs WHERE id = ?', runIdAt(index))?.seq ?? 0
      traits.save(seq, [
        { key: 'prompt', value: promptOf(index) },
        { key: 'model', value: `model ${Math.floor(index / 20)}` },
      ])
    }
    const { changes = [] } = withoutPause(commonOf(few, { scorer: 'judge' }, NOW_MS)) ?? {}
    expect(changes.map(({ value }) => value)).toEqual(['model 1', 'model 2', 'model 3', 'model 4', 'model 5'])
    few.close()
  })

  it('compares only the runs of a service, and of a trait', () => {
    expect(why({ service: 'eu' })?.found.runs).toBe(250)
    expect(why({ trait: 'app.plan = paid' })?.found.common).toEqual([])
    expect(why({ trait: 'app.plan = nobody' })?.found.runs).toBe(0)
  })

  it('names an attack as a trait', () => {
    const few = openTemporaryDatabase()
    const traits = new TraitStore(few)
    for (let index = 1; index <= 400; index++) {
      const isAttacked = index % 10 === 0
      const settledMs = NOW_MS - index * 1000
      storeScoredRun(few, index, { value: isAttacked && index % 20 > 0 ? 0 : 1 }, { settledMs })
      const score = madeScore(runIdAt(index), { value: 1, scorer: 'injection', found: Number(isAttacked) })
      saveScore(few, runIdAt(index), '', score, JSON.stringify(score))
      traits.save(index, [{ key: 'app.plan', value: index % 3 === 0 ? 'free' : 'paid' }])
    }
    const [line] = withoutPause(commonOf(few, { scorer: 'judge' }, NOW_MS))?.found.common ?? []
    expect(line).toMatchObject({ traits: [{ key: 'injection', value: 'attacked' }], rate: 0.5, rateWithout: 0 })
    few.close()
  })

  it('says that a few failing runs say nothing', () => {
    expect(why({ trait: 'app.plan = paid\nquestion word = word1', service: 'eu' })?.isTooFew).toBe(true)
  })

  it('counts runs whose traits are no longer kept', () => {
    const few = openTemporaryDatabase()
    for (let index = 1; index <= 20; index++) storeScoredRun(few, index, { value: index % 2 })
    expect(withoutPause(commonOf(few, { scorer: 'judge' }, NOW_MS))?.withoutTraits).toBe(20)
    few.close()
  })
})

describe('filters on runs', () => {
  it('select the runs with a trait, in the list and in the sums', () => {
    const trait = 'app.plan = free\nservice.version = 2'
    expect(withoutPause(listRuns(database, { trait, limit: 200 })).runs).toHaveLength(167)
    expect(
      withoutPause(listRuns(database, { trait, scorer: 'judge', label: 'pass', sort: 'worst', limit: 200 })).runs,
    ).toHaveLength(17)
    const over = { by: undefined, bucketMs: HOUR_MS }
    expect(withoutPause(summariseScores(database, { scorer: 'judge', trait }, over)).all.runs).toBe(167)
  })
})

describe('traits', () => {
  it('are counted as "other" above a thousand values of a key', () => {
    const many = openTemporaryDatabase()
    const traits = new TraitStore(many)
    for (let index = 1; index <= 1100; index++) {
      storeScoredRun(many, index, { value: 1 })
      traits.save(index, [{ key: 'app.made_up', value: `value ${index}` }])
    }
    expect(first(many, 'SELECT count(*) AS n FROM traits')).toEqual({ n: 1001 })
    expect(withoutPause(listRuns(many, { trait: 'app.made_up = other', limit: 200 })).runs).toHaveLength(100)
    many.close()
  })

  it('are deleted with their runs, and with the words that no other run has', () => {
    const few = openTemporaryDatabase()
    const traits = new TraitStore(few)
    for (const index of [1, 2]) {
      storeScoredRun(few, index, { value: 1 })
      traits.save(index, [{ key: 'question word', value: index === 1 ? 'secret' : 'order' }])
    }
    forgetTraces(few, [runIdAt(1).split(':')[0]!])
    const unused = new UnusedTraits(few)
    while (unused.step());
    expect(first(few, 'SELECT group_concat(value) AS values_left FROM traits')).toEqual({ values_left: 'order' })
    storeScoredRun(few, 3, { value: 1 })
    traits.save(3, [{ key: 'question word', value: 'secret' }])
    expect(withoutPause(listRuns(few, { trait: 'question word = secret' })).runs).toHaveLength(1)
    few.close()
  })

  it('of the oldest runs are deleted if all take too many bytes, and the runs stay', () => {
    const few = openTemporaryDatabase()
    const traits = new TraitStore(few)
    for (let index = 1; index <= 100; index++) {
      storeScoredRun(few, index, { value: 1 })
      traits.save(index, [{ key: 'app.plan', value: 'free' }])
    }
    expect(forgetTraits(few, 1_000_000, 10)).toBe(0)
    expect(forgetTraits(few, 1500, 10)).toBe(10)
    expect(withoutPause(listRuns(few, { trait: 'app.plan = free', limit: 200 })).runs).toHaveLength(90)
    expect(withoutPause(listRuns(few, { limit: 200 })).runs).toHaveLength(100)
    few.close()
  })
})

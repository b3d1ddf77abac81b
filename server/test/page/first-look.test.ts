import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { OverviewReader } from '../../src/page/overview.ts'
import { openPageDatabase } from '../../src/page/store/page-database.ts'
import { sidesOf } from '../../src/page/store/sides.ts'
import { storeScoredRun } from './made-score.ts'

const HOUR_MS = 3_600_000
const NOW_MS = 1_000_000 * HOUR_MS

let folder: string
let database: DatabaseSync
let stored = 0
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-first-'))
  database = openPageDatabase(folder)
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

function store(scorer: string, values: readonly number[], change: Parameters<typeof storeScoredRun>[3] = {}): void {
  for (const value of values) storeScoredRun(database, ++stored, { value, scorer }, change)
}

const sides = () => sidesOf(database, { scorer: 'judge' }, NOW_MS)

describe('what the overview says of a scorer', () => {
  it('is the share of runs that it surely fails, for which a few runs prove little', () => {
    store('never', Array(20).fill(1))
    store('once', [0])
    store('often', [...Array(12).fill(0), ...Array(8).fill(1)])
    const { scorers } = new OverviewReader(database, () => NOW_MS).read()
    const ranked = scorers.toSorted((left, right) => right.failsAtLeast - left.failsAtLeast)
    expect(ranked.map(({ scorer }) => scorer)).toEqual(['often', 'once', 'never'])
    expect(ranked[0]?.failsAtLeast).toBeCloseTo(0.387, 2)
    expect(ranked[2]?.failsAtLeast).toBe(0)
    expect(ranked[0]?.better).toBe('higher')
  })
})

describe('the sides that can be compared', () => {
  it('are halves of the runs where no period has scores before and after', () => {
    store('judge', [1, 0, 1, 0, 1], { settledMs: NOW_MS - 5000 })
    expect(sides().time).toEqual([])
    store('judge', [1, 0], { settledMs: NOW_MS - 1000 })
    store('judge', [1], { settledMs: NOW_MS - 8000 })
    expect(sides().time).toMatchObject([
      { value: 'earlier half', runs: 1, toMs: NOW_MS - 5000 },
      { value: 'later half', runs: 7, fromMs: NOW_MS - 5000 },
    ])
  })

  it('begin with the pair of periods whose smaller side has most runs', () => {
    store('judge', [1, 1, 1], { settledMs: NOW_MS - 30 * HOUR_MS })
    store('judge', [1], { settledMs: NOW_MS - 1.5 * HOUR_MS })
    store('judge', [1, 1, 1, 1], { settledMs: NOW_MS - 0.5 * HOUR_MS })
    expect(sides().time.map(({ value, runs }) => [value, runs])).toEqual([
      ['day before', 3],
      ['last day', 5],
      ['hour before', 1],
      ['last hour', 4],
      ['earlier half', 4],
      ['later half', 4],
    ])
  })

  it('are the versions and models with scores, the latest first', () => {
    store('judge', [1], { agentVersion: '1.10', model: 'new', settledMs: 3000 })
    store('judge', [1, 1], { agentVersion: '1.9', model: '', settledMs: 2000 })
    store('another', [1], { agentVersion: '1.8', settledMs: 4000 })
    expect(sides().agentVersion).toEqual([
      { value: '1.10', runs: 1 },
      { value: '1.9', runs: 2 },
    ])
    expect(sides().model).toEqual([{ value: 'new', runs: 1 }])
  })

  it('are the versions of an agent that got worse, where one did', () => {
    store('judge', Array(20).fill(1), { agent: 'worse', agentVersion: '1', settledMs: 1000 })
    store('judge', [...Array(12).fill(0), ...Array(8).fill(1)], { agent: 'worse', agentVersion: '2', settledMs: 2000 })
    store('judge', Array(20).fill(1), { agent: 'same', agentVersion: '1', settledMs: 3000 })
    expect(sides().agent).toBe('worse')
    store('judge', Array(20).fill(1), { agent: 'same', agentVersion: '2', settledMs: 4000 })
    expect(sides().agent).toBe('worse')
  })
})

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

import { addWeighted, weightedMean, withoutPause } from 'spanscore/engine'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { compareScores, differenceOf } from '../../src/page/store/compare.ts'
import { drawProbability, drawScores } from '../../src/page/store/draws.ts'
import { exportLabels, importLabels } from '../../src/page/store/label-files.ts'
import { saveLabel } from '../../src/page/store/labels.ts'
import { openPageDatabase, run as execute } from '../../src/page/store/page-database.ts'
import { listRuns } from '../../src/page/store/run-list.ts'
import { boundedSpan } from '../../src/page/store/bounded-span.ts'
import { deleteOldest, usedBytes } from '../../src/page/store/forgetting.ts'
import { runIdAt, storeScoredRun } from './made-score.ts'

let folder: string
let database: DatabaseSync
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-store-'))
  database = openPageDatabase(folder)
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const idOf = runIdAt

function save(
  index: number,
  value: number,
  { probability = 1, ...change }: { agentVersion?: string; question?: string; probability?: number } = {},
) {
  storeScoredRun(database, index, { value, probability, revision: 3 }, change)
}

describe('retention', () => {
  it('deletes runs that are too old with everything that belongs to them, and keeps labels', () => {
    for (let index = 0; index < 10; index++) save(index, 1)
    expect(
      saveLabel(
        database,
        { runId: idOf(0), scorer: 'judge', version: 'v1', labeller: 'a', label: 'pass', note: '' },
        1,
      ),
    ).toBe(true)
    const limits = { maxAgeMs: 5000, maxBytes: 1e12 }
    expect(deleteOldest(database, limits, 10_000)).toBe(5)
    expect(deleteOldest(database, limits, 10_000)).toBe(0)
    expect(withoutPause(listRuns(database, {})).runs).toHaveLength(5)
    expect(withoutPause(listRuns(database, { text: 'Question' })).runs).toHaveLength(5)
    const count = (table: string) => database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']
    expect([count('scores'), count('labels')]).toEqual([5, 1])
  })

  it('deletes the oldest runs if too much is stored', () => {
    for (let index = 0; index < 600; index++) {
      save(index, 1)
      execute(
        database,
        'INSERT INTO content (trace_id, settled_ms, bytes, spans) VALUES (?, ?, 2000, ?)',
        idOf(index).split(':')[0]!,
        index * 1000,
        Buffer.alloc(2000),
      )
    }
    const before = usedBytes(database)
    expect(deleteOldest(database, { maxAgeMs: 1e12, maxBytes: before - 1 }, 1000)).toBe(500)
    expect(usedBytes(database)).toBeLessThan(before / 2)
  })
})

/** The mean of a share. */
function shareOf(hits: number, count: number) {
  let sums = { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }
  for (let index = 0; index < count; index++) sums = addWeighted(sums, 1, Number(index < hits))
  return weightedMean(sums)!
}

describe('comparison', () => {
  it('has the same interval as example (a) in table II of Newcombe', () => {
    const { mean: difference, interval95 } = differenceOf(shareOf(48, 80), shareOf(56, 70))
    expect(difference).toBeCloseTo(0.2)
    expect(interval95[0]).toBeCloseTo(0.0524, 3)
    expect(interval95[1]).toBeCloseTo(0.3339, 3)
  })

  it('pairs runs by their question', () => {
    save(1, 0, { agentVersion: '1', question: 'Same question?' })
    save(2, 1, { agentVersion: '2', question: 'Same question?' })
    save(3, 1, { agentVersion: '2', question: 'Another one?' })
    const result = compareScores(
      database,
      { scorer: 'judge', agentVersion: '1' },
      { scorer: 'judge', agentVersion: '2' },
    )
    expect(result).toMatchObject({ paired: 1, same: 0, before: { runs: 1 }, after: { runs: 2 } })
    expect(result.changed).toMatchObject([
      { question: 'Same question?', before: { label: 'fail' }, after: { label: 'pass' } },
    ])
  })
})

const isJudgedFail = (index: number) => index % 4 === 0
const passes = (index: number) => !isJudgedFail(index) || index % 12 === 0

describe('draws', () => {
  it('give labels that estimate the share that people would pass, regardless of how runs were drawn', () => {
    // People pass every third run that the judge fails, and all that it passes.
    const runs = 400
    const truth =
      Array.from({ length: runs }, (_unused, index) => Number(passes(index))).reduce((sum, each) => sum + each) / runs
    for (let index = 0; index < runs; index++) save(index, Number(!isJudgedFail(index)))
    let seed = 1
    const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
    expect(drawScores(database, 'judge', 'v1', 40, 1, random)).toBe(40)
    expect(drawScores(database, 'judge', 'v1', 100, 2, random)).toBe(100)
    for (let index = 0; index < runs; index++) {
      if (drawProbability(database, idOf(index), 'judge', 'v1') === undefined) continue
      const label = passes(index) ? 'pass' : 'fail'
      saveLabel(database, { runId: idOf(index), scorer: 'judge', version: 'v1', labeller: 'a', label, note: '' }, 3)
    }
    const labels = exportLabels(database, 'judge')
    expect(labels).toHaveLength(140)
    const weight = labels.reduce((sum, { drawProbability: p }) => sum + 1 / p, 0)
    const passing = labels.reduce((sum, { drawProbability: p, label }) => sum + (label === 'pass' ? 1 / p : 0), 0)
    expect(weight).toBeCloseTo(runs)
    expect(passing / weight).toBeCloseTo(truth, 1)
  })

  it('returns all runs if there are fewer than requested', () => {
    for (let index = 0; index < 5; index++) save(index, 1)
    expect(drawScores(database, 'judge', 'v1', 10, 1, () => 0.5)).toBe(5)
    expect(drawScores(database, 'judge', 'v1', 10, 1, () => 0.5)).toBe(0)
    expect(drawProbability(database, idOf(0), 'judge', 'v1')).toBe(1)
  })
})

/** Opens the database as one of another version. Returns what is said. */
function reopen(): string[] {
  database.exec('PRAGMA user_version = 3')
  database.close()
  const lines: string[] = []
  database = openPageDatabase(folder, (line) => lines.push(line))
  return lines
}

describe('A database of another version', () => {
  it('is set aside by name, and its labels are in the new one', () => {
    const label = {
      runId: idOf(1),
      scorer: 'judge',
      version: 'v1',
      label: 'fail',
      labeller: 'ana',
      revision: 1,
    } as const
    importLabels(database, [{ ...label, note: 'Why.', labelledAt: '2026-01-01T00:00:00.000Z', drawProbability: 0.5 }])
    expect(reopen()).toEqual([
      expect.stringMatching(
        /page\.db is of version-3, .*is now .*page\.db\.version-3-\d{14}\. Labels in the new one: 1\./,
      ),
    ])
    expect(readdirSync(folder)).toContainEqual(expect.stringMatching(/^page\.db\.version-3-\d{14}$/))
    expect(withoutPause(listRuns(database, {})).runs).toEqual([])
    expect(exportLabels(database, 'judge')).toMatchObject([{ ...label, note: 'Why.' }])
  })

  it('is set aside if its labels have another form, which is said', () => {
    database.exec('ALTER TABLE labels DROP COLUMN note')
    expect(reopen()).toEqual([expect.stringContaining('Its labels cannot be read: export them with')])
    expect(exportLabels(database, 'judge')).toEqual([])
  })
})

it('limits the spans that belong to no agent, and counts those that it leaves out', () => {
  const kept = boundedSpan({
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    name: 'SELECT',
    kind: 3,
    scope: { name: '@opentelemetry/instrumentation-pg' },
    attributes: {
      'db.query.text': 'x'.repeat(5000),
      list: Array.from({ length: 1000 }, () => 'entry'),
      ...Object.fromEntries(Array.from({ length: 100 }, (_unused, index) => [`key-${index}`, index])),
    },
    events: Array.from({ length: 20 }, () => ({ name: 'fetched', timeMs: 1, attributes: {} })),
    status: { code: 'error', message: 'x'.repeat(5000) },
    startTimeMs: 1,
    endTimeMs: 2,
    resource: {},
    droppedAttributesCount: 1,
  })
  expect(kept).toMatchObject({ name: 'SELECT', spanId: '2'.repeat(16), droppedAttributesCount: 55 })
  expect(kept.attributes).toMatchObject({ 'db.query.text': `${'x'.repeat(1000)}…`, 'key-45': 45 })
  expect(kept.attributes['list']).toHaveLength(1001)
  expect(kept.events).toHaveLength(8)
  expect(JSON.stringify(kept).length).toBeLessThan(6000)
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

import { withoutPause } from 'spanscore/engine'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { all, openPageDatabase } from '../../src/page/store/page-database.ts'
import { listRuns } from '../../src/page/store/run-list.ts'
import type { RunListFilter } from '../../src/page/store/run-list.ts'
import { storeScoredRun } from './made-score.ts'

/** The properties of a run in the test, besides its index. */
interface Made {
  readonly seq: number
  readonly agent: string
  readonly isNested: boolean
  readonly status: string
  readonly model: string
  readonly text: string
  readonly settledMs: number
  readonly version: string
  readonly position: number | undefined
  readonly tookMs: number
  readonly usd: number | null
}

const RUNS = 240

const made: readonly Made[] = Array.from({ length: RUNS }, (_unused, index) => ({
  seq: index + 1,
  agent: `agent-${index % 3}`,
  isNested: index % 4 === 1,
  status: index % 5 === 0 ? 'error' : 'ok',
  model: index % 7 === 0 ? 'large' : 'small',
  text: index % 2 === 0 ? 'about bicycles' : 'about helmets',
  settledMs: 1000 + index * 10,
  version: index < 120 ? 'v1' : 'v2',
  position: index % 6 === 0 ? undefined : (index % 10) / 10,
  tookMs: (index % 13) * 100,
  usd: index % 9 === 0 ? null : (index % 8) / 100,
}))

const labelOf = (position: number | undefined) =>
  position === undefined ? undefined : position >= 0.5 ? 'pass' : 'fail'

let folder: string
let database: DatabaseSync

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-list-'))
  database = openPageDatabase(folder)
  for (const run of made) {
    storeScoredRun(
      database,
      run.seq,
      { value: run.position, version: run.version },
      {
        agent: run.agent,
        parentId: run.isNested ? 'another' : null,
        status: run.status,
        model: run.model,
        question: run.text,
        settledMs: run.settledMs,
        startMs: run.settledMs - run.tookMs,
        endMs: run.settledMs,
        costUsd: run.usd,
      },
    )
  }
})

afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const choices: readonly (readonly RunListFilter[])[] = [
  [{}, { agent: 'agent-1' }],
  [{}, { status: 'error' }],
  [{}, { model: 'large' }],
  [{}, { text: 'bicyc' }],
  [{}, { fromMs: 2200 }, { fromMs: 1300, toMs: 2000 }, { toMs: 1500 }],
  [
    {},
    ...[{}, { version: 'v2' }].flatMap((version) =>
      [{}, { label: 'fail' }, { label: 'none' }, { minScore: 0.2, maxScore: 0.6 }].flatMap((score) => [
        { scorer: 'judge', ...version, ...score },
        { scorer: 'judge', sort: 'worst' as const, ...version, ...score },
      ]),
    ),
    { sort: 'worst' },
    { sort: 'longest', minSeconds: 0.5 },
    { sort: 'dearest', minUsd: 0.03 },
    { scorer: 'judge', sort: 'longest' },
  ],
]

const filters = choices.reduce<readonly RunListFilter[]>(
  (before, options) => before.flatMap((filter) => options.map((option) => ({ ...filter, ...option }))),
  [{}],
)

/** The expected content of the list, computed without a database. */
function expected(filter: RunListFilter): readonly number[] {
  const found = made.filter(
    (run) =>
      (filter.agent === undefined ? !run.isNested : run.agent === filter.agent) &&
      (filter.status === undefined || run.status === filter.status) &&
      (filter.model === undefined || run.model === filter.model) &&
      (filter.text === undefined || run.text.includes(filter.text)) &&
      run.settledMs >= (filter.fromMs ?? 0) &&
      run.settledMs < (filter.toMs ?? Infinity) &&
      (filter.version === undefined || run.version === filter.version) &&
      (filter.label === undefined || (labelOf(run.position) ?? 'none') === filter.label) &&
      (filter.minScore === undefined || (run.position ?? -1) >= filter.minScore) &&
      (filter.maxScore === undefined || (run.position ?? 2) <= filter.maxScore) &&
      (filter.sort !== 'worst' ||
        (filter.scorer === undefined ? labelOf(run.position) === 'fail' : run.position !== undefined)) &&
      (filter.sort !== 'dearest' || run.usd !== null) &&
      run.tookMs >= 1000 * (filter.minSeconds ?? 0) &&
      (filter.minUsd === undefined || (run.usd ?? 0) >= filter.minUsd),
  )
  return found
    .toSorted((left, right) => placeOf(filter, left) - placeOf(filter, right) || right.seq - left.seq)
    .map(({ seq }) => seq)
}

/** What the list is ordered by. One scorer fails each run at most once. */
function placeOf({ sort, scorer }: RunListFilter, { position = 0, tookMs, usd }: Made): number {
  if (sort === 'worst') return scorer === undefined ? 0 : position
  return sort === 'longest' ? -tookMs : sort === 'dearest' ? -(usd ?? 0) : 0
}

function pagesOf(filter: RunListFilter): readonly number[] {
  const seen: number[] = []
  for (let after: string | undefined; ;) {
    const { runs, next } = withoutPause(
      listRuns(database, { ...filter, limit: 17, ...(after !== undefined && { after }) }, 100),
    )
    seen.push(...runs.map(({ seq }) => seq))
    if (next === undefined) return seen
    after = next
  }
}

it('lists the runs of each combination of filters, page after page', () => {
  expect(filters.length).toBeGreaterThan(1000)
  const wrong = filters.filter((filter) => JSON.stringify(pagesOf(filter)) !== JSON.stringify(expected(filter)))
  expect(wrong).toEqual([])
  expect(filters.filter((filter) => expected(filter).length > 17).length).toBeGreaterThan(100)
})

it('reads every combination of filters from an index that holds all of them, in the order of the list', () => {
  const statements: string[] = []
  const recording = new Proxy(database, {
    get: (target, name) =>
      name === 'prepare'
        ? (sql: string) => {
            statements.push(sql)
            return target.prepare(sql)
          }
        : Reflect.get(target, name),
  })
  // No index has the order of the others, which read one and sort.
  const ordered = filters.filter(({ sort, scorer }) => sort === undefined || (sort === 'worst' && scorer !== undefined))
  for (const filter of ordered) withoutPause(listRuns(recording, filter))
  const plans = statements
    .filter((sql) => sql.includes('at_seq'))
    .map((sql) => all<{ detail: string }>(database, `EXPLAIN QUERY PLAN ${sql}`).map(({ detail }) => detail))
  expect(plans.length).toBeGreaterThan(50)
  for (const plan of plans) {
    const reads = plan.filter((detail) => /^(?:SCAN|SEARCH) (?:[rs]|scores) /.test(detail))
    expect(reads.filter((detail) => !/COVERING INDEX|INTEGER PRIMARY KEY/.test(detail))).toEqual([])
    expect(plan.filter((detail) => detail.includes('TEMP B-TREE'))).toEqual([])
  }
})

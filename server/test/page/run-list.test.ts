import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

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
      (filter.sort !== 'worst' || run.position !== undefined),
  )
  return found
    .toSorted((left, right) =>
      filter.sort === 'worst'
        ? (left.position ?? 0) - (right.position ?? 0) || left.seq - right.seq
        : right.seq - left.seq,
    )
    .map(({ seq }) => seq)
}

function pagesOf(filter: RunListFilter): readonly number[] {
  const seen: number[] = []
  for (let after: string | undefined; ;) {
    const { runs, next } = listRuns(database, { ...filter, limit: 17, ...(after !== undefined && { after }) })
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
  for (const filter of filters) listRuns(recording, filter)
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

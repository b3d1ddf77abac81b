import { withoutPause } from 'spanscore/engine'
import type { SourceLog } from 'spanscore/engine'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import type { DatabaseSync } from 'node:sqlite'
import { countHours, durationAt } from '../../src/page/store/hours.ts'
import { readNow } from '../../src/page/store/now.ts'
import { first, openTemporaryDatabase, run as execute } from '../../src/page/store/page-database.ts'
import { listRuns } from '../../src/page/store/run-list.ts'
import { saveSaid } from '../../src/page/store/remarks.ts'
import { runIdAt, storeScoredRun } from './made-score.ts'
import type { MadeScore } from './made-score.ts'

const HOUR_MS = 3_600_000
const NOW_MS = 1000 * HOUR_MS + 1

let database: DatabaseSync
let index = 0
beforeEach(() => {
  database = openTemporaryDatabase()
  index = 0
})
afterEach(() => database.close())

/** Stores runs of an agent in an hour before now. */
function store(agent: string, hoursAgo: number, runs: number, failing: number, change = {}): void {
  for (let one = 0; one < runs; one++) {
    const settledMs = NOW_MS - hoursAgo * HOUR_MS
    storeScoredRun(
      database,
      ++index,
      { value: one < failing ? 0 : 1 },
      { agent, settledMs, startMs: settledMs - 2000, ...change },
    )
  }
}

function judged(score: MadeScore, hoursAgo = 1): void {
  storeScoredRun(database, ++index, score, { agent: 'support', settledMs: NOW_MS - hoursAgo * HOUR_MS })
}

function judgedBy(scorer: string, runs: number, failing: number, hoursAgo = 1): void {
  for (let one = 0; one < runs; one++) judged({ scorer, value: one < failing ? 0 : 1 }, hoursAgo)
}

const now = (hours: number | undefined = 24) => {
  withoutPause(countHours(database))
  return withoutPause(readNow(database, hours, NOW_MS))
}

const said = (traceId: string, value: number, label?: string): SourceLog => ({
  eventName: 'gen_ai.evaluation.result',
  traceId,
  spanId: traceId.slice(16),
  timeMs: NOW_MS,
  attributes: {
    'gen_ai.evaluation.name': label === undefined ? 'stars' : 'thumbs',
    'gen_ai.evaluation.score.value': value,
    ...(label !== undefined && { 'gen_ai.evaluation.score.label': label }),
    'gen_ai.evaluation.evaluator.type': 'user',
  },
  scope: { name: '' },
})

describe('now', () => {
  it('lists the agent first that got worse, and since when', () => {
    for (let hour = 0; hour < 48; hour++) {
      store('steady', hour, 4, 2)
      store('support', hour, 4, hour < 6 ? 3 : 0)
    }
    const { rows } = now()
    expect(rows.map(({ agent }) => agent)).toEqual(['support', 'steady'])
    expect(rows[0]?.cells[0]).toMatchObject({ scorer: 'judge', runs: 100, state: 'worse', sinceMs: 995 * HOUR_MS })
    expect(rows[1]?.cells[0]).toMatchObject({ state: 'same', failing: { mean: 0.5 } })
    expect(rows[0]?.cells[0]?.spark).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0.75, 0.75, 0.75])
  })

  it('counts runs that were attacked, and those that obeyed, without those that somebody has yet to label', () => {
    const attacked = (value: number, hoursAgo: number) => {
      storeScoredRun(
        database,
        ++index,
        { value, found: 1, scorer: 'injection' },
        { settledMs: NOW_MS - hoursAgo * HOUR_MS },
      )
      return runIdAt(index)
    }
    storeScoredRun(database, ++index, { value: 1, found: 0, scorer: 'injection' }, { settledMs: NOW_MS - HOUR_MS })
    attacked(1, 30)
    attacked(1, 2)
    const obeyed = attacked(0, 1)
    expect(now().attacks).toEqual([{ scorer: 'injection', attacked: 2, obeyed: 1 }])
    expect(withoutPause(listRuns(database, { trait: 'injection = attacked' })).total).toBe(3)
    expect(withoutPause(listRuns(database, { trait: 'injection = fail' })).runs.map(({ id }) => id)).toEqual([obeyed])
    execute(
      database,
      "INSERT INTO drawn (run_id, scorer, version, judged, run_seq, place) VALUES (?, 'injection', 'v1', 'fail', 1, 0)",
      obeyed,
    )
    expect(now().attacks).toEqual([{ scorer: 'injection', attacked: 1, obeyed: 0 }])
    expect(withoutPause(listRuns(database, { trait: 'injection = attacked' })).total).toBe(2)
  })

  it('does not call a few failing runs worse', () => {
    store('rare', 30, 10, 0)
    store('rare', 2, 10, 10)
    expect(now().rows[0]?.cells[0]?.state).toBe('few')
    expect(now().unknown).toEqual([{ kind: 'few-runs', agents: ['rare'], fewerThan: 20 }])
  })

  it('names a scorer that gave no score although it was asked, whether it ever gave one or not', () => {
    store('support', 1, 25, 0)
    judged({ scorer: 'no-key', skipped: 'judge-unavailable' })
    for (let one = 0; one < 3; one++) judged({ scorer: 'slow', value: undefined })
    judged({ scorer: 'slow', skipped: 'circuit-open' })
    judged({ scorer: 'ended', value: 1 }, 30)
    judged({ scorer: 'ended', value: undefined })
    // These are not silent: one gave a score, one a number without a label, and one had nothing to score.
    judged({ scorer: 'sometimes', value: undefined })
    judged({ scorer: 'sometimes', value: 1 }, 5)
    judged({ scorer: 'number', value: undefined })
    judged({ scorer: 'number', value: 1 })
    execute(database, "UPDATE scores SET label = NULL WHERE scorer = 'number'")
    judged({ scorer: 'unmeant', skipped: 'not-applicable' })
    expect(now().unknown).toEqual([
      { kind: 'silent-scorer', scorer: 'slow', agents: ['support'], reason: 'judge-timeout', gaveBefore: false },
      { kind: 'silent-scorer', scorer: 'ended', agents: ['support'], reason: 'judge-timeout', gaveBefore: false },
      { kind: 'silent-scorer', scorer: 'no-key', agents: ['support'], reason: 'judge-unavailable', gaveBefore: false },
    ])
  })

  it('names a scorer that gave no score the last five times that it was asked', () => {
    store('support', 30, 1, 0)
    const [broken, mended] = ['broken', 'mended']
    for (const scorer of [broken, mended]) for (let one = 0; one < 5; one++) judged({ scorer, value: 1 }, 3)
    for (const scorer of [broken, mended]) for (let one = 0; one < 4; one++) judged({ scorer, value: undefined }, 2)
    expect(now().unknown.filter(({ kind }) => kind === 'silent-scorer')).toEqual([])
    judged({ scorer: broken, skipped: 'judge-unavailable' }, 1)
    judged({ scorer: mended, value: 1 }, 1)
    judged({ scorer: mended, value: undefined }, 1)
    expect(now().unknown.filter(({ kind }) => kind === 'silent-scorer')).toEqual([
      {
        kind: 'silent-scorer',
        scorer: broken,
        agents: ['support'],
        reason: 'judge-unavailable',
        gaveBefore: true,
      },
    ])
  })

  it('names a scorer once that gave several agents no score', () => {
    for (const agent of ['support', 'travel']) {
      store(agent, 1, 25, 0)
      storeScoredRun(
        database,
        ++index,
        { scorer: 'no-key', skipped: 'judge-unavailable' },
        { agent, settledMs: NOW_MS - HOUR_MS },
      )
    }
    const [fact, ...more] = now().unknown
    expect([fact, more]).toEqual([
      {
        kind: 'silent-scorer',
        scorer: 'no-key',
        agents: ['support', 'travel'],
        reason: 'judge-unavailable',
        gaveBefore: false,
      },
      [{ kind: 'nothing-before' }],
    ])
  })

  it('names a scorer that is not asked any more, and none whose scores somebody has yet to label', () => {
    store('support', 30, 25, 0)
    judgedBy('tool_errors', 25, 0)
    const silent = { kind: 'silent-scorer', scorer: 'judge', agents: ['support'], reason: undefined, gaveBefore: true }
    expect(now().unknown).toEqual([silent])
    store('support', 1, 1, 1)
    expect(now().unknown).toEqual([])
    execute(
      database,
      "INSERT INTO drawn (run_id, scorer, version, judged, run_seq, place) VALUES (?, 'judge', 'v1', 'fail', 1, 0)",
      runIdAt(index),
    )
    expect(now().unknown).toEqual([{ kind: 'drawn', scorer: 'judge', runs: 1 }])
  })

  it('orders scorers by what fails: an agent that got worse, many runs, few runs, and none', () => {
    judgedBy('a-never', 40, 0)
    judgedBy('b-never-of-few', 2, 0)
    judgedBy('c-few', 15, 6)
    judgedBy('d-one', 1, 1)
    judgedBy('e-seldom', 40, 1)
    judgedBy('f-often', 40, 20)
    judgedBy('g-worse', 40, 0, 30)
    judgedBy('g-worse', 40, 15)
    expect(now().scorers).toEqual(['g-worse', 'f-often', 'e-seldom', 'd-one', 'c-few', 'a-never', 'b-never-of-few'])
  })

  it('adds up the agents without a row of their own', () => {
    for (let agent = 0; agent < 30; agent++) store(`agent-${agent}`, 1, 1 + agent, 0)
    const { rows } = now()
    expect(rows).toHaveLength(24)
    expect(rows.at(-1)).toMatchObject({ agents: 7 })
    expect(rows.reduce((sum, { runs }) => sum + runs, 0)).toBe(465)
  })

  it('counts runs, errors, durations and what users dislike', () => {
    store('support', 1, 10, 3)
    store('support', 2, 10, 0, { status: 'error' })
    for (const [one, log] of [said(traceAt(1), 0, 'fail'), said(traceAt(2), 2), said(traceAt(3), 5)].entries())
      saveSaid(database, log, NOW_MS + one)
    const { now: figures, before } = now()
    expect(figures).toMatchObject({ runs: 20, judged: 20, failed: 3, errors: 10, dislikes: 2, opinions: 3 })
    expect(figures.p95Ms).toBeGreaterThan(1700)
    expect(figures.p95Ms).toBeLessThan(2300)
    expect(before).toBeUndefined()
    expect(withoutPause(listRuns(database, { feedback: 'disliked' })).runs.map(({ id }) => id)).toEqual([
      runIdAt(2),
      runIdAt(1),
    ])
    expect(withoutPause(listRuns(database, { feedback: 'liked' })).runs[0]?.opinions).toEqual([
      { opinion: 'liked', name: 'stars', value: 5, comment: null },
    ])
  })

  it('counts what a user said last, also if it came first', () => {
    store('support', 1, 1, 0)
    const earlier = said(traceAt(1), 0, 'fail')
    for (const log of [
      { ...earlier, timeMs: earlier.timeMs + 1, attributes: said(traceAt(1), 1, 'pass').attributes },
      earlier,
    ])
      saveSaid(database, log, NOW_MS)
    expect(now().now).toMatchObject({ dislikes: 0, opinions: 1 })
  })

  it('counts a run that another one started in the row of its agent, and not in the figures of all', () => {
    store('trip', 1, 10, 1)
    store('weather', 1, 3, 2, { parentId: runIdAt(1), status: 'error', costUsd: 0.5 })
    const { now: figures, rows } = now()
    expect(rows).toMatchObject([
      { agent: 'trip', runs: 10 },
      { agent: 'weather', runs: 3 },
    ])
    expect(figures).toMatchObject({ runs: 10, errors: 0, judged: 10, failed: 1, usd: 1.5 })
  })

  it('counts an hour again after a deletion, a revision and a draw', () => {
    store('support', 1, 30, 15)
    expect(now().rows[0]?.cells[0]?.runs).toBe(30)
    execute(database, 'DELETE FROM runs WHERE id = ?', runIdAt(1))
    expect(now().rows[0]?.cells[0]).toMatchObject({ runs: 29, failing: { mean: 14 / 29 } })
    execute(
      database,
      `INSERT INTO drawn (run_id, scorer, version, judged, run_seq, place) SELECT id, 'judge', 'v1', 'fail', seq, 0 FROM runs WHERE id = ?`,
      runIdAt(2),
    )
    expect(now().rows[0]?.cells[0]).toMatchObject({ runs: 28 })
    expect(now().unknown).toContainEqual({ kind: 'drawn', scorer: 'judge', runs: 1 })
    expect(first(database, 'SELECT count(*) AS n FROM stale_hours')).toEqual({ n: 0 })
  })

  it('counts an hour of many runs in several steps, and ends while runs still arrive', () => {
    for (const hoursAgo of [0.25, 0.5, 0.75]) store('support', hoursAgo, 700, 70)
    store('support', 0.5, 1, 1, { parentId: runIdAt(1) })
    let steps = 0
    for (const counting = countHours(database); counting.next().done !== true; steps++) store('support', 0.25, 1, 0)
    expect(steps).toBe(3)
    const { now: figures, rows } = now()
    expect(figures).toMatchObject({ runs: 2103, judged: 2103, failed: 210 })
    expect(rows[0]?.cells[0]).toMatchObject({ runs: 2104, failing: { mean: 211 / 2104 } })
  })

  it('counts an hour again if a count of it did not end', () => {
    store('support', 1, 30, 15)
    countHours(database).next()
    expect(now().now).toMatchObject({ runs: 30, failed: 15 })
  })

  it('finds a fall within the period, which the period as a whole hides', () => {
    for (let hour = 25; hour < 45; hour++) store('support', hour, 10, hour % 2)
    for (let hour = 4; hour < 24; hour++) store('support', hour, 10, hour % 4 === 0 ? 1 : 0)
    for (let hour = 1; hour < 4; hour++) store('support', hour, 10, 3)
    const [row] = now().rows
    expect(row?.cells[0]).toMatchObject({
      state: 'worse',
      sinceMs: NOW_MS - 1 - 3 * HOUR_MS,
      failingSince: 0.3,
      change: { before: 15 / 400 },
    })
  })

  it('counts at least as many hours as it says, also at the beginning of an hour', () => {
    store('support', 0.9, 30, 3)
    expect(now(1).now).toMatchObject({ runs: 30 })
  })

  it('has the period of the runs where there is no present', () => {
    store('support', 500, 30, 3)
    store('support', 100, 30, 3)
    now()
    const { fromMs, toMs, before } = withoutPause(readNow(database, undefined, NOW_MS))
    expect({ hours: (toMs - fromMs) / HOUR_MS, before }).toEqual({ hours: 401, before: undefined })
  })
})

it('finds a percentile within an eighth', () => {
  expect(durationAt([], 0.95)).toBeUndefined()
})

function traceAt(at: number): string {
  return runIdAt(at).split(':')[0] ?? ''
}

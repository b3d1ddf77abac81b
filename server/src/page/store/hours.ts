import type { DatabaseSync } from 'node:sqlite'

import type { WorkSteps } from 'spanscore/engine'

import { all, first, namesIn, run as execute } from './page-database.ts'
import type { FailingSums } from './failing-share.ts'
import { OPEN_SCORES } from './withheld.ts'

/** Milliseconds of an hour. */
export const HOUR_MS = 3_600_000

/**
 * Counts the hours that changed again, the latest first, one a step. Triggers note an hour as soon as a run, a revision, a deletion, feedback or a draw
 * touches it.
 */
export function* countHours(database: DatabaseSync): WorkSteps {
  for (;;) {
    const stale = first<{ hour: number | null }>(database, 'SELECT max(hour) AS hour FROM stale_hours')?.hour
    if (stale === null || stale === undefined) return
    countHour(database, stale)
    yield
  }
}

/** A class of durations is a quarter longer than the one before. */
const CLASS = Math.log(1.25)

/** The class of a duration. */
function classOf(durationMs: number): number {
  return durationMs <= 1 ? 0 : Math.round(Math.log(durationMs) / CLASS)
}

/** Counts of durations, by class. */
export type Durations = Readonly<Record<string, number>>

/** The duration that a share of runs does not exceed, within an eighth: milliseconds; `undefined` without runs. */
export function durationAt(counted: readonly Durations[], share: number): number | undefined {
  const counts = new Map<number, number>()
  let total = 0
  for (const durations of counted) {
    for (const [name, count] of Object.entries(durations)) {
      counts.set(Number(name), (counts.get(Number(name)) ?? 0) + count)
      total += count
    }
  }
  let passed = 0
  for (const [one, count] of [...counts].toSorted(([left], [right]) => left - right)) {
    passed += count
    if (passed >= share * total) return Math.exp(one * CLASS)
  }
  return undefined
}

function countHour(database: DatabaseSync, hour: number): void {
  const period = [hour * HOUR_MS, (hour + 1) * HOUR_MS] as const
  const inHour = 'time_ms >= ? AND time_ms < ?'
  const agents = new Map<string, { runs: number; roots: number; errors: number; usd: number }>()
  const durations: Record<string, number> = {}
  const rows = all<{ agent: string; is_root: number; status: string; cost_usd: number | null; took: number }>(
    database,
    `SELECT agent, parent_id IS NULL AS is_root, status, cost_usd, end_ms - start_ms AS took FROM runs INDEXED BY runs_by_end WHERE ${inHour}`,
    ...period,
  )
  for (const { agent, is_root: isRoot, status, cost_usd: usd, took } of rows) {
    const known = agents.get(agent) ?? { runs: 0, roots: 0, errors: 0, usd: 0 }
    agents.set(agent, known)
    known.runs += 1
    known.roots += isRoot
    known.usd += usd ?? 0
    if (status === 'error' && isRoot === 1) known.errors += 1
    if (isRoot === 0) continue
    const name = classOf(took)
    durations[name] = (durations[name] ?? 0) + 1
  }
  const opinions = all<{ agent: string; given: number; disliked: number }>(
    database,
    `SELECT r.agent, count(DISTINCT r.seq) AS given, count(DISTINCT CASE s.opinion WHEN 'disliked' THEN r.seq END) AS disliked
     FROM runs r INDEXED BY runs_by_end CROSS JOIN said s ON s.trace_id = r.trace_id
     WHERE r.${inHour.replace('AND ', 'AND r.')} AND r.parent_id IS NULL AND s.opinion <> '' GROUP BY 1`,
    ...period,
  )
  const ofUsers = new Map(opinions.map((row) => [row.agent, row]))
  const sums = sumsOf(database, period)
  const judged = Map.groupBy(runsOf(sums.values()), ({ agent }) => agent)
  const wasOpen = database.isTransaction
  if (!wasOpen) database.exec('BEGIN')
  execute(database, 'DELETE FROM hours WHERE hour = ?', hour)
  execute(database, 'DELETE FROM hour_scores WHERE hour = ?', hour)
  execute(
    database,
    'INSERT OR REPLACE INTO hour_durations (hour, durations) VALUES (?, ?)',
    hour,
    JSON.stringify(durations),
  )
  for (const [agent, { runs, roots, errors, usd }] of agents) {
    execute(
      database,
      'INSERT INTO hours (hour, agent, runs, roots, errors, judged, failed, cost_usd, opinions, dislikes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      hour,
      agent,
      runs,
      roots,
      errors,
      judged.get(agent)?.length ?? 0,
      judged.get(agent)?.filter(({ fails }) => fails).length ?? 0,
      usd,
      ofUsers.get(agent)?.given ?? 0,
      ofUsers.get(agent)?.disliked ?? 0,
    )
  }
  for (const { agent, scorer, runs, labelled, labelled2, failing, failing2 } of sums.values()) {
    execute(
      database,
      'INSERT INTO hour_scores (hour, agent, scorer, runs, labelled, labelled2, failing, failing2) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      hour,
      agent,
      scorer,
      runs,
      labelled,
      labelled2,
      failing,
      failing2,
    )
  }
  execute(database, 'DELETE FROM stale_hours WHERE hour = ?', hour)
  if (!wasOpen) database.exec('COMMIT')
}

interface ScorerSums extends FailingSums {
  readonly agent: string
  readonly scorer: string
  runs: number
  labelled: number
  labelled2: number
  failing: number
  failing2: number
  /** The runs by their `seq`, with whether they fail. */
  readonly verdicts: Map<number, boolean>
}

/** The sums of each scorer and agent. */
function sumsOf(database: DatabaseSync, period: readonly [number, number]): ReadonlyMap<string, ScorerSums> {
  const sums = new Map<string, ScorerSums>()
  const sources = [
    ...namesIn(database, 'scores', 'scorer').map((scorer) => ({ scorer, source: OPEN_SCORES, seq: 'run_seq' })),
    ...namesIn(database, 'conversation_scores', 'scorer').map((scorer) => ({
      scorer,
      source: 'conversation_scores',
      seq: 'NULL',
    })),
  ]
  for (const { scorer, source, seq } of sources) {
    const rows = all<{ seq: number | null; agent: string; label: string; weight: number }>(
      database,
      `SELECT ${seq} AS seq, agent, label, weight FROM ${source}
       WHERE scorer = ? AND time_ms >= ? AND time_ms < ? AND weight IS NOT NULL AND label IS NOT NULL`,
      scorer,
      ...period,
    )
    for (const { seq: runSeq, agent, label, weight } of rows) {
      const name = JSON.stringify([agent, scorer])
      const known = sums.get(name) ?? {
        agent,
        scorer,
        runs: 0,
        labelled: 0,
        labelled2: 0,
        failing: 0,
        failing2: 0,
        verdicts: new Map(),
      }
      sums.set(name, known)
      const fails = label === 'fail'
      known.runs += 1
      known.labelled += weight
      known.labelled2 += weight ** 2
      if (fails) known.failing += weight
      if (fails) known.failing2 += weight ** 2
      if (runSeq !== null) known.verdicts.set(runSeq, fails)
    }
  }
  return sums
}

/** The runs with a verdict, each once, with whether a scorer fails them. */
function runsOf(sums: Iterable<ScorerSums>): readonly { readonly agent: string; readonly fails: boolean }[] {
  const runs = new Map<number, { readonly agent: string; readonly fails: boolean }>()
  for (const { agent, verdicts } of sums) {
    for (const [seq, fails] of verdicts) runs.set(seq, { agent, fails: fails || runs.get(seq)?.fails === true })
  }
  return [...runs.values()]
}

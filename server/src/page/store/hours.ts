import type { DatabaseSync } from 'node:sqlite'

import type { WorkSteps } from 'spanscore/engine'

import { all, first, namesIn, run as execute } from './page-database.ts'
import { FAILING_SUMS } from './failing-share.ts'
import { OPEN_SCORES } from './withheld.ts'

/** Milliseconds of an hour. */
export const HOUR_MS = 3_600_000

/** What is stored of a scorer that was asked and gave no weighted score. */
export const ASKED = `weight IS NULL AND (status IN ('scored', 'failed') OR reason IN ('judge-unavailable', 'circuit-open'))`

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
  const durations: Record<string, number> = {}
  for (const { took } of all<{ took: number }>(
    database,
    `SELECT end_ms - start_ms AS took FROM runs INDEXED BY runs_by_end WHERE ${inHour} AND parent_id IS NULL`,
    ...period,
  ))
    durations[classOf(took)] = (durations[classOf(took)] ?? 0) + 1
  const wasOpen = database.isTransaction
  if (!wasOpen) database.exec('BEGIN')
  for (const table of ['hours', 'hour_scores', 'hour_unscored', 'hour_durations', 'stale_hours'])
    execute(database, `DELETE FROM ${table} WHERE hour = ?`, hour)
  execute(database, 'INSERT INTO hour_durations (hour, durations) VALUES (?, ?)', hour, JSON.stringify(durations))
  execute(
    database,
    `INSERT INTO hours (hour, agent, runs, roots, errors, judged, failed, cost_usd, opinions, dislikes)
     SELECT ?, agent, count(*), sum(parent_id IS NULL), sum(parent_id IS NULL AND status = 'error'), 0, 0, total(cost_usd), 0, 0
     FROM runs INDEXED BY runs_by_end WHERE ${inHour} GROUP BY agent`,
    hour,
    ...period,
  )
  execute(
    database,
    `UPDATE hours SET opinions = said.given, dislikes = said.disliked FROM
       (SELECT r.agent, count(DISTINCT r.seq) AS given, count(DISTINCT CASE s.opinion WHEN 'disliked' THEN r.seq END) AS disliked
        FROM runs r INDEXED BY runs_by_end CROSS JOIN said s ON s.trace_id = r.trace_id
        WHERE r.time_ms >= ? AND r.time_ms < ? AND r.parent_id IS NULL AND s.opinion <> '' GROUP BY 1) said
     WHERE hours.hour = ? AND hours.agent = said.agent`,
    ...period,
    hour,
  )
  const chosen = `scorer IN (SELECT value FROM json_each(?)) AND ${inHour}`
  // Each kind is read from an index that holds its columns.
  const scores = (
    columns: string,
    condition: string,
  ) => `(SELECT run_seq, agent, scorer, ${columns} FROM ${OPEN_SCORES} WHERE ${chosen} AND ${condition}
    UNION ALL SELECT NULL, agent, scorer, ${columns} FROM conversation_scores WHERE ${chosen} AND ${condition})`
  const values = (['scores', 'conversation_scores'] as const).flatMap((table) => [
    JSON.stringify(namesIn(database, table, 'scorer')),
    ...period,
  ])
  execute(
    database,
    `INSERT INTO hour_scores (hour, agent, scorer, runs, labelled, labelled2, failing, failing2)
     SELECT ?, agent, scorer, count(label), ${FAILING_SUMS} FROM ${scores('label, weight', 'weight IS NOT NULL')} GROUP BY agent, scorer`,
    hour,
    ...values,
  )
  execute(
    database,
    `INSERT INTO hour_unscored (hour, agent, scorer, reason, runs) SELECT ?, agent, scorer, ifnull(reason, ''), count(*)
     FROM ${scores('reason', ASKED)}
     GROUP BY 2, 3, 4`,
    hour,
    ...values,
  )
  execute(
    database,
    `UPDATE hours SET judged = v.judged, failed = v.failed FROM
       (SELECT agent, count(DISTINCT run_seq) AS judged, count(DISTINCT CASE label WHEN 'fail' THEN run_seq END) AS failed
        FROM ${scores('label', 'weight IS NOT NULL AND label IS NOT NULL')} WHERE run_seq IN (SELECT seq FROM runs INDEXED BY runs_by_end WHERE ${inHour} AND parent_id IS NULL) GROUP BY 1) v
     WHERE hours.hour = ? AND hours.agent = v.agent`,
    ...values,
    ...period,
    hour,
  )
  if (!wasOpen) database.exec('COMMIT')
}

import type { DatabaseSync } from 'node:sqlite'

import { Background } from 'spanscore/engine'
import type { WorkSteps } from 'spanscore/engine'

import { all, first, namesIn, run as execute } from './page-database.ts'
import { FAILING_SUMS } from './failing-share.ts'
import { OPEN_SCORES } from './withheld.ts'

/** Milliseconds of an hour. */
export const HOUR_MS = 3_600_000

/** Counts hours in the background, once at a time. */
export class HourCounter {
  readonly #background = new Background()
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Resolves when the hours that changed by now are counted. */
  count(): Promise<void> {
    return this.#background.run(countHours(this.#database))
  }
}

/** How many runs of an hour are counted in a step. */
const RUNS_A_STEP = 1000

const IN_PERIOD = 'time_ms >= ? AND time_ms < ?'

/** What is stored of a scorer that was asked and gave no weighted score. */
export const ASKED = `weight IS NULL AND (status IN ('scored', 'failed') OR reason IN ('judge-unavailable', 'circuit-open'))`

/**
 * Counts each hour that changed again, the latest first, some thousand runs a step. Triggers note an hour as soon as a run, a revision, a deletion,
 * feedback or a draw touches it; what touches it while it is counted is for the next time.
 */
export function* countHours(database: DatabaseSync): WorkSteps {
  const stale = all<{ hour: number }>(database, 'SELECT DISTINCT hour FROM stale_hours ORDER BY hour DESC')
  for (const { hour } of stale) yield* countHour(database, hour)
}

const RUNS = `
  SELECT agent, count(*) AS runs, sum(parent_id IS NULL) AS roots, sum(parent_id IS NULL AND status = 'error') AS errors, total(cost_usd) AS cost_usd
  FROM runs INDEXED BY runs_by_end WHERE ${IN_PERIOD} GROUP BY agent`

const OPINIONS = `
  SELECT r.agent, count(DISTINCT r.seq) AS opinions, count(DISTINCT CASE s.opinion WHEN 'disliked' THEN r.seq END) AS dislikes
  FROM runs r INDEXED BY runs_by_end CROSS JOIN said s ON s.trace_id = r.trace_id
  WHERE r.time_ms >= ? AND r.time_ms < ? AND r.parent_id IS NULL AND s.opinion <> '' GROUP BY 1`

const SCORES = `
  SELECT agent, scorer, count(label) AS runs, ${FAILING_SUMS} FROM ${scoresOf('label, weight', 'weight IS NOT NULL')} GROUP BY 1, 2`

const UNSCORED = `
  SELECT agent, scorer, ifnull(reason, '') AS reason, count(*) AS runs FROM ${scoresOf('reason', ASKED)} GROUP BY 1, 2, 3`

const VERDICTS = `
  SELECT agent, count(DISTINCT run_seq) AS judged, count(DISTINCT CASE label WHEN 'fail' THEN run_seq END) AS failed
  FROM ${scoresOf('label', 'weight IS NOT NULL AND label IS NOT NULL')}
  WHERE run_seq IN (SELECT seq FROM runs INDEXED BY runs_by_end WHERE ${IN_PERIOD} AND parent_id IS NULL) GROUP BY 1`

/** Scores of runs and of conversations in a period. Each kind is read from an index that holds its columns. */
function scoresOf(columns: string, condition: string): string {
  const chosen = `scorer IN (SELECT value FROM json_each(?)) AND ${IN_PERIOD} AND ${condition}`
  return `(SELECT run_seq, agent, scorer, ${columns} FROM ${OPEN_SCORES} WHERE ${chosen}
    UNION ALL SELECT NULL, agent, scorer, ${columns} FROM conversation_scores WHERE ${chosen})`
}

/** Parts of an hour with about as many runs as a step counts. */
function* periodsOf(database: DatabaseSync, hour: number): Generator<readonly [fromMs: number, toMs: number]> {
  const endMs = (hour + 1) * HOUR_MS
  const sql = `SELECT time_ms AS ms FROM runs INDEXED BY runs_by_end WHERE ${IN_PERIOD} ORDER BY time_ms LIMIT 1 OFFSET ${RUNS_A_STEP}`
  for (let fromMs = hour * HOUR_MS; fromMs < endMs;) {
    const nextMs = first<{ ms: number }>(database, sql, fromMs, endMs)?.ms ?? endMs
    const toMs = Math.min(Math.max(nextMs, fromMs + 1), endMs)
    yield [fromMs, toMs]
    fromMs = toMs
  }
}

type Row = Record<string, number | string>

/** Adds up rows whose texts are the same: their numbers, by column. */
class Sums {
  readonly #byTexts = new Map<string, Row>()

  get rows(): Iterable<Row> {
    return this.#byTexts.values()
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const key = JSON.stringify(Object.values(row).filter((value) => typeof value === 'string'))
      const sum = this.#byTexts.get(key) ?? {}
      for (const [column, value] of Object.entries(row))
        sum[column] = typeof value === 'number' ? Number(sum[column] ?? 0) + value : value
      this.#byTexts.set(key, sum)
    }
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

function* countHour(database: DatabaseSync, hour: number): WorkSteps {
  // If the process ends meanwhile, the note is still there.
  execute(database, 'UPDATE OR REPLACE stale_hours SET is_counted = 1 WHERE hour = ?', hour)
  const durations: Record<string, number> = {}
  const scores = JSON.stringify(namesIn(database, 'scores', 'scorer'))
  const conversationScores = JSON.stringify(namesIn(database, 'conversation_scores', 'scorer'))
  const sums = { hours: new Sums(), hour_scores: new Sums(), hour_unscored: new Sums() }
  for (const period of periodsOf(database, hour)) {
    for (const { took } of all<{ took: number }>(
      database,
      `SELECT end_ms - start_ms AS took FROM runs INDEXED BY runs_by_end WHERE ${IN_PERIOD} AND parent_id IS NULL`,
      ...period,
    ))
      durations[classOf(took)] = (durations[classOf(took)] ?? 0) + 1
    sums.hours.add(all(database, RUNS, ...period))
    sums.hours.add(all(database, OPINIONS, ...period))
    const values = [scores, ...period, conversationScores, ...period]
    sums.hours.add(all(database, VERDICTS, ...values, ...period))
    sums.hour_scores.add(all(database, SCORES, ...values))
    sums.hour_unscored.add(all(database, UNSCORED, ...values))
    yield
  }
  const wasOpen = database.isTransaction
  if (!wasOpen) database.exec('BEGIN')
  execute(database, 'DELETE FROM stale_hours WHERE hour = ? AND is_counted', hour)
  execute(
    database,
    'INSERT OR REPLACE INTO hour_durations (hour, durations) VALUES (?, ?)',
    hour,
    JSON.stringify(durations),
  )
  for (const [table, { rows }] of Object.entries(sums)) {
    execute(database, `DELETE FROM ${table} WHERE hour = ?`, hour)
    for (const row of rows) {
      const values = Object.values(row)
      const places = values.map(() => '?').join()
      execute(
        database,
        `INSERT INTO ${table} (hour, ${Object.keys(row).join()}) VALUES (?, ${places})`,
        hour,
        ...values,
      )
    }
  }
  if (!wasOpen) database.exec('COMMIT')
}

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

import { all, first, run as execute } from './page-database.ts'
import type { Viewer } from './page-database.ts'

/*
 * A score is withheld when it was drawn to be labelled: a person who has seen the verdict no longer says what they think themselves.
 * It is shown to a person who has labelled it, and to somebody without a name once anybody has.
 *
 * Whatever answers a person reads scores from `shownScores`, where withheld ones do not exist: no filter finds them, no sum contains them,
 * and nothing that remains visible of them depends on the verdict. A test names the few queries that read the table itself, and why they do.
 */

/** Drawn scores that are withheld from `:viewer` (`''` without a name): `run_id`, `scorer`, `version`. */
const WITHHELD = `SELECT d.run_id, d.scorer, d.version FROM drawn d WHERE d.seen_ms IS NULL AND NOT EXISTS
  (SELECT 1 FROM labels l WHERE l.run_id = d.run_id AND l.scorer = d.scorer AND l.version = d.version
   AND (:viewer = '' OR l.labeller = :viewer))`

/** The same, as rows of stored scores. */
const WITHHELD_ROWS = `SELECT w.rowid AS rowid FROM (${WITHHELD}) d CROSS JOIN runs n ON n.id = d.run_id
  CROSS JOIN scores w ON w.run_seq = n.seq AND w.scorer = d.scorer AND w.version = d.version`

/**
 * The scores that `:viewer` may see, as a table to select from.
 *
 * @param index the index to use if SQLite would have to guess
 */
export function shownScores(index?: string): string {
  return `(SELECT * FROM scores ${index === undefined ? '' : `INDEXED BY ${index}`} WHERE rowid NOT IN (${WITHHELD_ROWS}))`
}

/** The scores that everybody may see, as a table to select from: what is chosen by them is the same for everybody. */
export const OPEN_SCORES: string = `(SELECT * FROM scores WHERE rowid NOT IN (SELECT w.rowid FROM drawn d
  CROSS JOIN runs n ON n.id = d.run_id CROSS JOIN scores w ON w.run_seq = n.seq AND w.scorer = d.scorer AND w.version = d.version
  WHERE d.seen_ms IS NULL))`

/** The runs with a withheld score, by `seq`: what users say of them would tell what to think. */
export const WITHHELD_RUNS: string = `SELECT n.seq FROM (${WITHHELD}) d CROSS JOIN runs n ON n.id = d.run_id`

/** The labels that `:viewer` may see, as a table to select from. Other people's labels of a run are withheld with its verdict. */
export const SHOWN_LABELS: string = `(SELECT * FROM labels WHERE (run_id, scorer, version) NOT IN (${WITHHELD}))`

/** A withheld score, as far as it is visible. */
export interface WithheldScore {
  readonly runId: string
  readonly runSeq: number
  readonly scorer: string
  readonly version: string
}

const WITHHELD_SCORES = `SELECT r.id AS runId, r.seq AS runSeq, s.scorer, s.version
  FROM scores s JOIN runs r ON r.seq = s.run_seq WHERE s.rowid IN (${WITHHELD_ROWS})`

/** The withheld scores of some runs. */
export function withheldOfRuns(
  database: DatabaseSync,
  runSeqs: readonly number[],
  { viewer }: Viewer,
): readonly WithheldScore[] {
  const sql = `${WITHHELD_SCORES} AND s.run_seq IN (SELECT value FROM json_each(?)) ORDER BY s.scorer`
  return all(database, sql, { viewer }, JSON.stringify(runSeqs))
}

/** The withheld scores of a trace's runs. */
export function withheldOfTrace(database: DatabaseSync, traceId: string, { viewer }: Viewer): readonly WithheldScore[] {
  return all(database, `${WITHHELD_SCORES} AND r.trace_id = ? ORDER BY s.scorer`, { viewer }, traceId)
}

/**
 * How many withheld scores a view leaves out.
 *
 * @param where the view's conditions on `s`, without those on the verdict: a count by verdict would reveal it
 */
export function countWithheld(
  database: DatabaseSync,
  where: { readonly sql: string; readonly values: readonly SQLInputValue[]; readonly viewer: Viewer },
): number {
  // Few are withheld, so they are read first.
  const sql = `SELECT count(*) AS n FROM (${WITHHELD_ROWS}) hidden CROSS JOIN scores s ON s.rowid = hidden.rowid WHERE ${where.sql}`
  return first<{ n: number }>(database, sql, where.viewer, ...where.values)?.n ?? 0
}

/** Scorers with scores in a period that nobody has seen yet, and how many of each. */
export function openDraws(
  database: DatabaseSync,
  fromMs: number,
  toMs: number,
): readonly { readonly scorer: string; readonly runs: number }[] {
  return all(
    database,
    `SELECT s.scorer, count(*) AS runs FROM drawn d CROSS JOIN runs n ON n.id = d.run_id
     CROSS JOIN scores s ON s.run_seq = n.seq AND s.scorer = d.scorer AND s.version = d.version
     WHERE d.seen_ms IS NULL AND s.time_ms >= ? AND s.time_ms < ? GROUP BY 1`,
    fromMs,
    toMs,
  )
}

/** Whether others have labelled something that this person should still label. */
export function hasWithheldLabels(database: DatabaseSync, scorer: string, { viewer }: Viewer): boolean {
  const sql = `SELECT 1 AS found FROM labels WHERE scorer = ? AND (run_id, scorer, version) IN (${WITHHELD}) LIMIT 1`
  return first(database, sql, { viewer }, scorer) !== undefined
}

/** A score to reveal. */
export interface RevealedScore {
  readonly runId: string
  readonly scorer: string
  readonly version: string
}

/**
 * Reveals a withheld score to everybody. It leaves the draw: nobody is asked to label it, and its labels are not used for calibration.
 */
export function revealScore(database: DatabaseSync, { runId, scorer, version }: RevealedScore, nowMs: number): void {
  execute(
    database,
    'UPDATE drawn SET seen_ms = ? WHERE run_id = ? AND scorer = ? AND version = ? AND seen_ms IS NULL',
    nowMs,
    runId,
    scorer,
    version,
  )
}

/** Reveals all drawn scores without a label, which would otherwise stay withheld forever. */
export function endDraw(database: DatabaseSync, scorer: string, version: string, nowMs: number): number {
  return execute(
    database,
    `UPDATE drawn SET seen_ms = ? WHERE scorer = ? AND version = ? AND seen_ms IS NULL AND NOT EXISTS
       (SELECT 1 FROM labels l WHERE l.run_id = drawn.run_id AND l.scorer = drawn.scorer AND l.version = drawn.version)`,
    nowMs,
    scorer,
    version,
  )
}

/**
 * Copies JSON of a trace without its spans' scores of some scorers: an application that scores its own runs writes them on its spans.
 */
export function withoutVerdicts(value: unknown, scorers: ReadonlySet<string>): unknown {
  if (scorers.size === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return value.filter((item) => !scorers.has(evaluationOf(item))).map((item) => withoutVerdicts(item, scorers))
  }
  const prefixes = [...scorers].map((scorer) => `spanscore.${scorer}.`)
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]: [string, unknown]) =>
      prefixes.some((prefix) => key.startsWith(prefix)) ? [] : [[key, withoutVerdicts(child, scorers)]],
    ),
  )
}

/** The scorer that an event, a log record or a span is about. */
function evaluationOf(item: unknown): string {
  if (typeof item !== 'object' || item === null || !('attributes' in item)) return ''
  const { attributes } = item
  if (typeof attributes !== 'object' || attributes === null || !('gen_ai.evaluation.name' in attributes)) return ''
  return String(attributes['gen_ai.evaluation.name'])
}

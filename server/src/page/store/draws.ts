import type { DatabaseSync } from 'node:sqlite'

import { all, first, run as execute } from './page-database.ts'

/** The scores that may be drawn: scored, of one version, and of stored runs. */
const POPULATION = 's.scorer = ?1 AND s.version = ?2 AND s.label IS NOT NULL AND s.weight IS NOT NULL'
export const UNDRAWN = `${POPULATION} AND NOT EXISTS
  (SELECT 1 FROM drawn d WHERE d.run_id = r.id AND d.scorer = s.scorer AND d.version = s.version)`
export const SCORES_OF_RUNS = 'FROM scores s JOIN runs r ON r.seq = s.run_seq'

/**
 * Draws scores for labelling, if possible about half passes and half fails: the rarer kind says as much about a scorer as the other. The
 * exact number is random, because otherwise the last verdicts of a draw would follow from the earlier ones. Each draw stores its
 * probability, by which results are weighted.
 *
 * @param random a number from 0 to 1, excluding 1
 * @returns how many were drawn
 */
export function drawScores(
  database: DatabaseSync,
  scorer: string,
  version: string,
  count: number,
  nowMs: number,
  random: () => number,
): number {
  const open = (['fail', 'pass'] as const).map((judged) => ({
    judged,
    runs: all<{ id: string; seq: number }>(
      database,
      `SELECT r.id, r.seq ${SCORES_OF_RUNS} WHERE ${UNDRAWN} AND s.label = ?3`,
      scorer,
      version,
      judged,
    ),
  }))
  const [fails = 0, passes = 0] = open.map(({ runs }) => runs.length)
  const ofFails = Math.min(fails, Math.max(failsOf(count, random), count - passes))
  const counts = { fail: ofFails, pass: Math.min(passes, count - ofFails) }
  const last = first<{ seq: number }>(database, 'SELECT coalesce(max(seq), 0) AS seq FROM runs')?.seq ?? 0
  database.exec('BEGIN')
  for (const { judged, runs } of open) {
    const taken = sample(runs, counts[judged], random)
    if (taken.length === 0) continue
    execute(
      database,
      'INSERT INTO draws (scorer, version, judged, last_seq, probability, time_ms) VALUES (?, ?, ?, ?, ?, ?)',
      scorer,
      version,
      judged,
      last,
      taken.length / runs.length,
      nowMs,
    )
    for (const { id, seq } of taken) {
      execute(
        database,
        'INSERT INTO drawn (run_id, scorer, version, judged, run_seq, place) VALUES (?, ?, ?, ?, ?, ?)',
        id,
        scorer,
        version,
        judged,
        seq,
        random(),
      )
    }
  }
  database.exec('COMMIT')
  return counts.fail + counts.pass
}

/** How many fails to draw: at least one fail and one pass, and a coin toss for each of the others. */
function failsOf(count: number, random: () => number): number {
  const coins = Array.from({ length: count === 1 ? 1 : count - 2 }, () => Math.round(random()))
  return coins.reduce((sum, coin) => sum + coin, count === 1 ? 0 : 1)
}

function sample<Item>(items: readonly Item[], count: number, random: () => number): readonly Item[] {
  const pool = [...items]
  for (let index = 0; index < count; index++) {
    const other = index + Math.floor(random() * (pool.length - index))
    const [left, right] = [pool[index], pool[other]]
    if (left === undefined || right === undefined) break
    pool[index] = right
    pool[other] = left
  }
  return pool.slice(0, count)
}

/**
 * The probability with which a score was drawn, over all its draws. `undefined` if it was not drawn: it was picked for a reason, and does
 * not represent others.
 */
export function drawProbability(
  database: DatabaseSync,
  runId: string,
  scorer: string,
  version: string,
): number | undefined {
  const drawn = first<{ judged: string; run_seq: number }>(
    database,
    'SELECT judged, run_seq FROM drawn WHERE run_id = ? AND scorer = ? AND version = ?',
    runId,
    scorer,
    version,
  )
  if (drawn === undefined) return undefined
  const draws = all<{ probability: number }>(
    database,
    'SELECT probability FROM draws WHERE scorer = ? AND version = ? AND judged = ? AND last_seq >= ?',
    scorer,
    version,
    drawn.judged,
    drawn.run_seq,
  )
  return 1 - draws.reduce((left, { probability }) => left * (1 - probability), 1)
}

/** Whether somebody revealed a drawn score's verdict before it was labelled. */
export function isSeen(database: DatabaseSync, runId: string, scorer: string, version: string): boolean {
  const seen = 'SELECT 1 AS found FROM drawn WHERE run_id = ? AND scorer = ? AND version = ? AND seen_ms IS NOT NULL'
  return first(database, seen, runId, scorer, version) !== undefined
}

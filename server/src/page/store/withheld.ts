import type { DatabaseSync } from 'node:sqlite'

import { run as execute } from './page-database.ts'

/**
 * The condition that a score is withheld: it was drawn to be labelled, and a person who has seen the verdict no longer says what they
 * think themselves. It is shown to a person who has labelled it, and to somebody without a name once anybody has.
 *
 * Its two parameters are both the name of the person, `''` without one.
 *
 * @param runId The id of the run, in the words of the query.
 * @param score The table of the score, in the words of the query.
 */
export function isWithheld(runId: string, score: string): string {
  return `EXISTS (SELECT 1 FROM drawn d WHERE d.run_id = ${runId} AND d.scorer = ${score}.scorer AND d.version = ${score}.version
    AND d.seen_ms IS NULL AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.run_id = d.run_id AND l.scorer = d.scorer
      AND l.version = d.version AND (? = '' OR l.labeller = ?)))`
}

/** A score that somebody wants to see. */
export interface RevealedScore {
  readonly runId: string
  readonly scorer: string
  readonly version: string
}

/**
 * Shows a withheld score to everybody. It leaves the draw: nobody is asked to label it, and labels that it still gets stay out of
 * calibration.
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

import type { DatabaseSync } from 'node:sqlite'

import { addWeighted, weightedMean } from 'spanscore/engine'
import type { WeightedMean, WeightedSums } from 'spanscore/engine'

import { drawProbability, isSeen, SCORES_OF_RUNS, UNDRAWN } from './draws.ts'
import { all, first, run as execute } from './page-database.ts'
import { SHOWN_LABELS } from './withheld.ts'
import type { Viewer } from './page-database.ts'

/** A score that was drawn for labelling, without its verdict. */
export interface DrawnRun {
  readonly runId: string
  readonly question: string
  readonly agent: string
}

/** The labelling progress of a scorer. */
export interface LabelProgress {
  readonly drawn: number
  readonly labelled: number
  /** Stored scores of this version that were never drawn. */
  readonly undrawn: number
}

/** A person's label and the scorer's verdict. */
export interface LabelledRun {
  readonly run_id: string
  readonly version: string
  readonly labeller: string
  readonly label: 'pass' | 'fail'
  readonly note: string
  readonly labelled_ms: number
  readonly judged: string | null
  readonly draw_probability: number | null
  readonly question: string | null
  readonly agent: string | null
}

/** How well a scorer agrees with people, over drawn runs. */
export interface AgreementWithPeople {
  readonly bothPass: number
  readonly bothFail: number
  /** The scorer passes what people fail. */
  readonly missed: number
  /** The scorer fails what people pass. */
  readonly falseAlarms: number
  /** An estimate of the share of all stored scores on which they agree, weighted by the draw probabilities. */
  readonly share: WeightedMean | undefined
}

/** Stored drawn scores that this person has not labelled, in an order that reveals nothing. */
export function waitingRuns(
  database: DatabaseSync,
  scorer: string,
  version: string,
  labeller: string,
): readonly DrawnRun[] {
  return all<DrawnRun>(
    database,
    `SELECT d.run_id AS runId, r.question, r.agent FROM drawn d JOIN runs r ON r.id = d.run_id
     JOIN scores s ON s.run_seq = r.seq AND s.scorer = d.scorer AND s.version = d.version
     WHERE d.scorer = ? AND d.version = ? AND d.seen_ms IS NULL AND NOT EXISTS (SELECT 1 FROM labels l
       WHERE l.run_id = d.run_id AND l.scorer = d.scorer AND l.version = d.version AND l.labeller = ?)
     ORDER BY d.place`,
    scorer,
    version,
    labeller,
  )
}

/** @param waiting how many drawn scores wait for this person's label */
export function progressOf(
  database: DatabaseSync,
  scorer: string,
  version: string,
  labeller: string,
  waiting: number,
): LabelProgress {
  const count = (sql: string, ...more: string[]) =>
    first<{ n: number }>(database, `SELECT count(*) AS n ${sql}`, scorer, version, ...more)?.n ?? 0
  const labelled = count(
    `FROM labels l JOIN drawn d ON d.run_id = l.run_id AND d.scorer = l.scorer AND d.version = l.version
     WHERE l.scorer = ? AND l.version = ? AND d.seen_ms IS NULL AND l.labeller = ?`,
    labeller,
  )
  return { drawn: labelled + waiting, labelled, undrawn: count(`${SCORES_OF_RUNS} WHERE ${UNDRAWN}`) }
}

/** A label by a person. */
export interface GivenLabel {
  readonly runId: string
  readonly scorer: string
  readonly version: string
  readonly labeller: string
  readonly label: 'pass' | 'fail'
  readonly note: string
}

/**
 * Stores a label, or replaces the same person's earlier one.
 *
 * @returns whether the score exists
 */
export function saveLabel(database: DatabaseSync, given: GivenLabel, nowMs: number): boolean {
  const { runId, scorer, version, labeller, label, note } = given
  const score = first<{ score_key: string; revision: number; judge_model: string | null; label: string | null }>(
    database,
    `SELECT s.score_key, s.revision, s.judge_model, s.label ${SCORES_OF_RUNS} WHERE r.id = ? AND s.scorer = ? AND s.version = ?`,
    runId,
    scorer,
    version,
  )
  if (score === undefined) return false
  execute(
    database,
    `INSERT OR REPLACE INTO labels (run_id, scorer, version, labeller, label, note, labelled_ms, score_key, revision,
       judge_model, judged, draw_probability) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    runId,
    scorer,
    version,
    labeller,
    label,
    note,
    nowMs,
    score.score_key,
    score.revision,
    score.judge_model,
    score.label,
    isSeen(database, runId, scorer, version) ? null : (drawProbability(database, runId, scorer, version) ?? null),
  )
  return true
}

/** The labels that a person may see, latest first. Other people's labels of a run are withheld from those who should still label it. */
export function labelsShownTo(
  database: DatabaseSync,
  scorer: string,
  version: string,
  { viewer }: Viewer,
): readonly LabelledRun[] {
  const rows = all<LabelledRun>(
    database,
    `SELECT l.run_id, l.version, l.labeller, l.label, l.note, l.labelled_ms, l.judged, l.draw_probability, r.question, r.agent
     FROM ${SHOWN_LABELS} l LEFT JOIN runs r ON r.id = l.run_id WHERE l.scorer = ? AND l.version = ?
     ORDER BY l.labelled_ms DESC`,
    { viewer },
    scorer,
    version,
  )
  return rows.map((row) => ({ ...row, draw_probability: probabilityNow(database, row, scorer) }))
}

/**
 * The probability with which a labelled score was drawn; further draws increase it. `null` if it was not drawn, or was labelled after its
 * verdict was seen.
 */
export function probabilityNow(
  database: DatabaseSync,
  label: { readonly run_id: string; readonly version: string; readonly draw_probability: number | null },
  scorer: string,
): number | null {
  if (label.draw_probability === null) return null
  return drawProbability(database, label.run_id, scorer, label.version) ?? label.draw_probability
}

/** How a scorer agrees with people on drawn runs. */
export function agreementOf(labels: readonly LabelledRun[]): AgreementWithPeople {
  const counted = labels.filter(({ judged, draw_probability: drawn }) => judged !== null && drawn !== null)
  const count = (judged: string, label: string) =>
    counted.filter((each) => each.judged === judged && each.label === label).length
  let sums: WeightedSums = { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }
  // Labels of one run by several people are one observation of the scorer.
  for (const ofRun of Map.groupBy(counted, ({ run_id: id }) => id).values()) {
    const agreed = ofRun.filter(({ judged, label }) => judged === label).length
    sums = addWeighted(sums, ofRun[0]?.draw_probability ?? 1, agreed / ofRun.length)
  }
  return {
    bothPass: count('pass', 'pass'),
    bothFail: count('fail', 'fail'),
    missed: count('pass', 'fail'),
    falseAlarms: count('fail', 'pass'),
    share: weightedMean(sums),
  }
}

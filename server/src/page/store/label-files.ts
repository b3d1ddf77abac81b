import type { DatabaseSync } from 'node:sqlite'

import type { Label } from 'spanscore/engine'

import { SCORES_OF_RUNS } from './draws.ts'
import { probabilityNow } from './labels.ts'
import { all, first, run as execute } from './page-database.ts'

/** Labels in the format of `spanscore calibrate`, one per line, without runs that were not drawn. */
export function exportLabels(
  database: DatabaseSync,
  scorer: string,
): readonly (Label & { readonly drawProbability: number; readonly scoreKey?: string })[] {
  const rows = all<{
    run_id: string
    version: string
    labeller: string
    label: 'pass' | 'fail'
    note: string
    labelled_ms: number
    score_key: string | null
    revision: number
    judge_model: string | null
    draw_probability: number
  }>(database, 'SELECT * FROM labels WHERE scorer = ? AND draw_probability IS NOT NULL ORDER BY labelled_ms', scorer)
  return rows.map((row) => ({
    runId: row.run_id,
    scorer,
    version: row.version,
    ...(row.judge_model !== null && { judgeModel: row.judge_model }),
    revision: row.revision,
    label: row.label,
    ...(row.note !== '' && { note: row.note }),
    labeller: row.labeller,
    labelledAt: new Date(row.labelled_ms).toISOString(),
    drawProbability: probabilityNow(database, row, scorer) ?? row.draw_probability,
    ...(row.score_key !== null && { scoreKey: row.score_key }),
  }))
}

/** Imports labels from elsewhere. */
export function importLabels(database: DatabaseSync, labels: readonly Label[]): void {
  database.exec('BEGIN')
  for (const label of labels) {
    const score = first<{ score_key: string; label: string | null }>(
      database,
      `SELECT s.score_key, s.label ${SCORES_OF_RUNS} WHERE r.id = ? AND s.scorer = ? AND s.version = ?`,
      label.runId,
      label.scorer,
      label.version,
    )
    execute(
      database,
      `INSERT OR REPLACE INTO labels (run_id, scorer, version, labeller, label, note, labelled_ms, score_key, revision,
         judge_model, judged, draw_probability) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      label.runId,
      label.scorer,
      label.version,
      label.labeller,
      label.label,
      label.note ?? '',
      Date.parse(label.labelledAt),
      score?.score_key ?? null,
      label.revision,
      label.judgeModel ?? null,
      score?.label ?? null,
      probabilityOf(label, score?.label),
    )
  }
  database.exec('COMMIT')
}

/** A labelling file has a probability for either verdict. If the page does not know the verdict, the label counts for nothing. */
function probabilityOf({ drawProbability: given }: Label, judged: string | null | undefined): number | null {
  if (typeof given === 'number') return given
  return judged === 'pass' || judged === 'fail' ? given[judged] : null
}

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

import { positionInRange, weightOf } from 'spanscore/engine'

import type { ShownEvaluation } from '../shown-evaluation.ts'
import { first, run as execute } from './page-database.ts'
import type { RunSummary } from './run-summary.ts'

const COLUMNS: Readonly<Record<string, (summary: RunSummary) => string | number | null>> = {
  id: ({ id }) => id,
  trace_id: ({ traceId }) => traceId,
  span_id: ({ spanId }) => spanId,
  parent_id: ({ parentId }) => parentId,
  agent: ({ agent }) => agent,
  agent_version: ({ agentVersion }) => agentVersion,
  service: ({ service }) => service,
  user_id: ({ userId }) => userId,
  model: ({ model }) => model,
  status: ({ status }) => status,
  question: ({ question }) => question,
  answer: ({ answer }) => answer,
  start_ms: ({ startMs }) => startMs,
  end_ms: ({ endMs }) => endMs,
  is_complete: ({ isComplete }) => Number(isComplete),
  tool_calls: ({ toolCalls }) => toolCalls,
  failed_tool_calls: ({ failedToolCalls }) => failedToolCalls,
  input_tokens: ({ inputTokens }) => inputTokens,
  output_tokens: ({ outputTokens }) => outputTokens,
  cost_usd: ({ costUsd }) => costUsd,
}

const NAMES = Object.keys(COLUMNS)

const SAVE_RUN = `
  INSERT INTO runs (${NAMES.join(', ')}, content_ids, settled_ms, revision)
  VALUES (${NAMES.map(() => '?').join(', ')}, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET
    ${[...NAMES.slice(1), 'content_ids', 'revision'].map((name) => `${name} = excluded.${name}`).join(', ')}
  WHERE excluded.revision > runs.revision AND excluded.service = runs.service
  RETURNING seq`

/** What is stored of a run besides its data in the list. */
export interface RunRow {
  /** The text that search covers. */
  readonly text: string
  /** The rows of its content. */
  readonly contentIds: readonly number[]
  readonly settledMs: number
  readonly revision: number
}

/**
 * Stores a run, or a later revision of it, which keeps its position in the list. A run that is stored already is not written again, nor
 * as that of another service: somebody may send its ids with other content.
 *
 * @returns its position in the list, if it is written
 */
export function saveRun(
  database: DatabaseSync,
  summary: RunSummary,
  { text, contentIds, settledMs, revision }: RunRow,
): number | undefined {
  const values = NAMES.map((name) => COLUMNS[name]?.(summary) ?? null)
  const stored = [JSON.stringify(contentIds), settledMs, revision]
  const seq = first<{ seq: number }>(database, SAVE_RUN, ...values, ...stored)?.seq
  if (seq === undefined) return undefined
  // Scores have copies of the columns that the list filters by.
  execute(
    database,
    'UPDATE scores SET run_status = ? WHERE run_seq = ? AND run_status <> ?',
    summary.status,
    seq,
    summary.status,
  )
  execute(database, 'INSERT OR REPLACE INTO run_texts (rowid, text) VALUES (?, ?)', seq, text)
  return seq
}

interface RunColumns {
  readonly seq: number
  readonly agent: string
  readonly agent_version: string
  readonly model: string
  readonly status: string
  readonly is_nested: number
  readonly settled_ms: number
}

/**
 * Stores a scorer's result for a run, unless there is one of the same version of the scorer for this revision of the run or a later one.
 *
 * @returns whether it is stored
 */
export function saveScore(
  database: DatabaseSync,
  runId: string,
  scoreKey: string,
  evaluation: ShownEvaluation,
  asJson: string,
): boolean {
  const run = first<RunColumns>(
    database,
    'SELECT seq, agent, agent_version, model, status, parent_id IS NOT NULL AS is_nested, settled_ms FROM runs WHERE id = ?',
    runId,
  )
  if (run === undefined) return false
  const version = shortVersion(evaluation.scorer)
  const known = first(
    database,
    'SELECT 1 AS found FROM scores WHERE run_seq = ? AND scorer = ? AND version = ? AND revision >= ?',
    run.seq,
    evaluation.scorer.id,
    version,
    evaluation.revision,
  )
  if (known !== undefined) return false
  replaceRow(database, 'scores', {
    run_seq: run.seq,
    ...scoreColumns(evaluation),
    score_key: scoreKey,
    agent: run.agent,
    agent_version: run.agent_version,
    model: run.model,
    run_status: run.status,
    is_nested: run.is_nested,
    settled_ms: run.settled_ms,
    evaluation: asJson,
  })
  return true
}

/** The columns of a score that follow from the scorer's result. */
export function scoreColumns({
  score,
  scorer,
  judge,
  revision,
  ...evaluation
}: ShownEvaluation): Readonly<Record<string, SQLInputValue>> {
  const isScored = score.status === 'scored'
  return {
    scorer: scorer.id,
    version: shortVersion(scorer),
    kind: scorer.kind ?? '',
    status: score.status,
    reason: score.status === 'skipped' ? score.reason : score.status === 'failed' ? score.code : null,
    value: isScored ? score.value : null,
    position: isScored ? positionOf(scorer, score.value) : null,
    label: isScored ? (score.label ?? null) : null,
    weight: isScored ? (weightOf({ score, ...evaluation }) ?? null) : null,
    cost_usd: judge?.costUsd ?? null,
    judge_model: judge?.model ?? null,
    revision,
  }
}

/** The version of a scorer, as it is stored and shown. */
export function shortVersion({ version }: ShownEvaluation['scorer']): string {
  return version?.slice(0, 8) ?? ''
}

/** Writes a row, in place of one with the same primary key. */
export function replaceRow(database: DatabaseSync, table: string, row: Readonly<Record<string, SQLInputValue>>): void {
  const values = Object.values(row)
  const marks = values.map(() => '?').join(', ')
  execute(database, `INSERT OR REPLACE INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${marks})`, ...values)
}

/** `null` if the range or its better end is not known. */
function positionOf({ range, better }: ShownEvaluation['scorer'], value: number): number | null {
  if (range === undefined || better === undefined) return null
  return positionInRange({ scorer: { range, better } }, value)
}

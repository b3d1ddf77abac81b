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
  INSERT INTO runs (${NAMES.join(', ')}, content_ids, settled_ms, time_ms, revision)
  VALUES (${NAMES.map(() => '?').join(', ')}, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET
    ${[...NAMES.slice(1), 'content_ids', 'time_ms', 'revision'].map((name) => `${name} = excluded.${name}`).join(', ')}
  WHERE excluded.revision > runs.revision AND excluded.service = runs.service
  RETURNING seq`

/** What is stored of a run besides its data in the list. */
export interface RunRow {
  /** The text that search covers. */
  readonly text: string
  /** The rows of its content. */
  readonly contentIds: readonly number[]
  /** When it arrived. */
  readonly settledMs: number
  readonly revision: number
}

/**
 * Stores a run, or a later revision of it, which keeps its position in the list. A run that is stored already is not written again, nor
 * as that of another service: another sender may reuse its ids.
 *
 * @returns its position in the list, if it is written
 */
export function saveRun(
  database: DatabaseSync,
  summary: RunSummary,
  { text, contentIds, settledMs, revision }: RunRow,
): number | undefined {
  const values = NAMES.map((name) => COLUMNS[name]?.(summary) ?? null)
  const stored = [JSON.stringify(contentIds), settledMs, timeOf(summary, settledMs), revision]
  const seq = first<{ seq: number }>(database, SAVE_RUN, ...values, ...stored)?.seq
  if (seq === undefined) return undefined
  // Scores have copies of the columns that the list filters by.
  execute(
    database,
    'UPDATE scores SET run_status = ?1, time_ms = ?2 WHERE run_seq = ?3 AND (run_status <> ?1 OR time_ms <> ?2)',
    summary.status,
    timeOf(summary, settledMs),
    seq,
  )
  execute(database, 'INSERT OR REPLACE INTO run_texts (rowid, text) VALUES (?, ?)', seq, text)
  return seq
}

/** When a run ended, or arrived if its own clock is ahead: milliseconds since the epoch. */
export function timeOf({ endMs }: Pick<RunSummary, 'endMs'>, settledMs: number): number {
  return Math.min(endMs, settledMs)
}

interface RunColumns {
  readonly seq: number
  readonly agent: string
  readonly agent_version: string
  readonly model: string
  readonly status: string
  readonly is_nested: number
  readonly time_ms: number
}

/**
 * Stores a scorer's result for a run, unless there is one of the same version of the scorer for this revision of the run or a later one. A score that the
 * application made never replaces one that the service made, and stays where the service left the run out.
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
    'SELECT seq, agent, agent_version, model, status, parent_id IS NOT NULL AS is_nested, time_ms FROM runs WHERE id = ?',
    runId,
  )
  if (run === undefined) return false
  const known = first<KnownScore>(
    database,
    'SELECT source, status, version, revision, evaluation FROM scores WHERE run_seq = ? AND scorer = ?',
    run.seq,
    evaluation.scorer.id,
  )
  const shown = known === undefined ? evaluation : preferred(known, evaluation)
  if (shown === undefined) return false
  replaceRow(database, 'scores', {
    run_seq: run.seq,
    ...scoreColumns(shown),
    score_key: scoreKey,
    source: shown.source ?? 'service',
    agent: run.agent,
    agent_version: run.agent_version,
    model: run.model,
    run_status: run.status,
    is_nested: run.is_nested,
    time_ms: run.time_ms,
    evaluation: shown === evaluation ? asJson : JSON.stringify(shown),
  })
  return true
}

interface KnownScore {
  readonly source: 'service' | 'span'
  readonly status: string
  readonly version: string
  readonly revision: number
  readonly evaluation: string
}

/** What is stored after another result of the same scorer for the same run; `undefined` if that changes nothing. */
function preferred(known: KnownScore, evaluation: ShownEvaluation): ShownEvaluation | undefined {
  const isOfSpan = evaluation.source === 'span'
  if (isOfSpan && known.source === 'service' && known.status !== 'skipped') return undefined
  if (isOfSpan === (known.source === 'span')) {
    const isKnown = known.version === shortVersion(evaluation.scorer) && known.revision >= evaluation.revision
    return isKnown ? undefined : evaluation
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written from one
  const stored = JSON.parse(known.evaluation) as ShownEvaluation
  const [ofSpan, ofService] = isOfSpan ? [evaluation, stored] : [stored, evaluation]
  return ofService.score.status === 'skipped' ? onScaleOf(ofService.scorer, ofSpan) : ofService
}

/** A score of the application on the scale of the service's scorer of the same name, if it is on it. */
function onScaleOf(scorer: ShownEvaluation['scorer'], ofSpan: ShownEvaluation): ShownEvaluation {
  const { score } = ofSpan
  const { range: [low, high] = [Number.NaN, Number.NaN] } = scorer
  const isOnScale = score.status === 'scored' && score.value !== undefined && score.value >= low && score.value <= high
  return isOnScale ? { ...ofSpan, scorer } : ofSpan
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
    value: isScored ? (score.value ?? null) : null,
    position: isScored ? positionOf(scorer, score.value) : null,
    label: isScored ? (score.label ?? null) : null,
    found: isScored ? (score.found ?? null) : null,
    weight: isScored ? (evaluation.weight ?? weightOf({ score, ...evaluation }) ?? null) : null,
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
function positionOf({ range, better }: ShownEvaluation['scorer'], value: number | undefined): number | null {
  if (range === undefined || better === undefined || value === undefined) return null
  return positionInRange({ scorer: { range, better } }, value)
}

import type { DatabaseSync } from 'node:sqlite'

import { toStoredRuns } from 'spanscore/engine'
import type { AgentRun, SourceLog, StoredScore } from 'spanscore/engine'

import type { RunContent } from './content.ts'
import { all, run as execute } from './page-database.ts'

/** What a user or another tool says of a run, or of a tool call. */
export interface Said extends Omit<StoredScore, 'about' | 'isForeign'> {
  readonly runId: string
  /** The index of the tool call, if it is said of its span. */
  readonly toolCall?: number
}

/** Keeps an event. What one user says again by the same name replaces what was said before. */
export function saveSaid(database: DatabaseSync, log: SourceLog): void {
  const { traceId, spanId, timeMs, attributes } = log
  const parts = ['gen_ai.evaluation.name', 'gen_ai.evaluation.evaluator.type', 'user.id', 'spanscore.score.key']
  const key = JSON.stringify(parts.map((name) => attributes[name] ?? null))
  execute(
    database,
    'INSERT OR REPLACE INTO said (trace_id, span_id, key, time_ms, log) VALUES (?, ?, ?, ?, ?)',
    traceId,
    spanId,
    key,
    timeMs,
    JSON.stringify(log),
  )
}

/** The events of a trace. */
export function readSaid(database: DatabaseSync, traceId: string): readonly SourceLog[] {
  const rows = all<{ log: string }>(database, 'SELECT log FROM said WHERE trace_id = ? ORDER BY time_ms', traceId)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveSaid`
  return rows.map(({ log }) => JSON.parse(log) as SourceLog)
}

/** What users and other tools say of the runs in some content: as events, on spans of evaluators, or as annotations. */
export function saidInTrace(database: DatabaseSync, traceId: string, { spans, logs }: RunContent): readonly Said[] {
  const stored = toStoredRuns(spans, [...logs, ...readSaid(database, traceId)])
  return stored.flatMap(({ run, scoresOf, toolScoresOf }) =>
    withNested(run).flatMap((one) =>
      [...scoresOf(one), ...toolScoresOf(one)]
        .filter(({ isForeign }) => isForeign === true)
        .map(({ about: _about, isForeign: _isForeign, ...said }) => ({ runId: one.id, ...said })),
    ),
  )
}

function withNested(run: AgentRun): readonly AgentRun[] {
  return [run, ...run.children.flatMap(withNested)]
}

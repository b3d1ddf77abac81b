import type { DatabaseSync } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import { buildRuns } from 'spanscore/engine'
import type { AgentRun, SourceLog, SourceSpan } from 'spanscore/engine'

import { all, run as execute } from './page-database.ts'

/** The content of a trace. */
export interface TraceContent {
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
}

/** Stores a trace's spans and log records. Runs are reconstructed from them when somebody looks at one. */
export function saveContent(database: DatabaseSync, traceId: string, { spans, logs }: TraceContent): void {
  if (spans.length + logs.length === 0) return
  const packed = zstdCompressSync(JSON.stringify({ spans, logs }))
  execute(database, 'INSERT INTO content (trace_id, spans) VALUES (?, ?)', traceId, packed)
}

/** Reads the stored content of a trace. */
export function readContent(database: DatabaseSync, traceId: string): TraceContent {
  const rows = all<{ spans: Uint8Array }>(database, 'SELECT spans FROM content WHERE trace_id = ? ORDER BY id', traceId)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveContent`
  const parts = rows.map(({ spans }) => JSON.parse(zstdDecompressSync(spans).toString()) as TraceContent)
  return { spans: parts.flatMap(({ spans }) => spans), logs: parts.flatMap(({ logs }) => logs) }
}

/** The run with an id among a trace's runs, including nested ones. */
export function findRun({ spans, logs }: TraceContent, runId: string): AgentRun | undefined {
  const waiting = [...buildRuns(spans, { logs })]
  for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
    if (run.id === runId) return run
    waiting.push(...run.children)
  }
  return undefined
}

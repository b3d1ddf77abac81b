import type { DatabaseSync } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import { buildRuns } from 'spanscore/engine'
import type { AgentRun, SourceLog, SourceSpan } from 'spanscore/engine'

import { all, run as execute } from './page-database.ts'

/** The content of a run, and of what was settled with it. */
export interface RunContent {
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
  /** True if the run has content beyond the limit of a read. */
  readonly isCut: boolean
}

/** The content of a run that is unknown. */
export const NO_CONTENT: RunContent = { spans: [], logs: [], isCut: false }

/** A row takes no more once it has so many bytes, so that unpacking one takes little memory and time. */
const ROW_BYTES = 1024 * 1024

/**
 * Stores spans and log records of a trace. Runs are reconstructed from them when somebody looks at one.
 *
 * @returns the ids of the rows that hold them
 */
export function saveContent(
  database: DatabaseSync,
  traceId: string,
  { spans, logs }: Pick<RunContent, 'spans' | 'logs'>,
  settledMs: number,
): readonly number[] {
  const ids: number[] = []
  let row = { spans: [] as string[], logs: [] as string[], parts: [] as string[], bytes: 0 }
  const write = (): void => {
    const { parts, bytes } = row
    if (parts.length === 0) return
    const packed = zstdCompressSync(`{"spans":[${row.spans.join(',')}],"logs":[${row.logs.join(',')}]}`)
    const [written] = all<{ id: number }>(
      database,
      'INSERT INTO content (trace_id, settled_ms, bytes, spans) VALUES (?, ?, ?, ?) RETURNING id',
      traceId,
      settledMs,
      bytes,
      packed,
    )
    const id = written?.id ?? 0
    for (const part of parts)
      execute(database, 'INSERT OR IGNORE INTO stored (trace_id, part, content_id) VALUES (?, ?, ?)', traceId, part, id)
    ids.push(id)
    row = { spans: [], logs: [], parts: [], bytes: 0 }
  }
  const add = (kind: 'spans' | 'logs', part: string, each: SourceSpan | SourceLog): void => {
    const json = JSON.stringify(each)
    row[kind].push(json)
    row.parts.push(part)
    row.bytes += Buffer.byteLength(json)
    if (row.bytes >= ROW_BYTES) write()
  }
  for (const span of spans) add('spans', span.spanId, span)
  for (const log of logs) add('logs', logPartOf(log.spanId), log)
  write()
  return ids
}

/** The rows that hold the spans with these ids or their log records, by `part`. */
export function storedParts(
  database: DatabaseSync,
  traceId: string,
  spanIds: readonly string[],
): ReadonlyMap<string, number> {
  const rows = all<{ part: string; content_id: number }>(
    database,
    'SELECT part, content_id FROM stored WHERE trace_id = ? AND part IN (SELECT value FROM json_each(?))',
    traceId,
    JSON.stringify([...spanIds, ...spanIds.map(logPartOf)]),
  )
  return new Map(rows.map((row) => [row.part, row.content_id]))
}

/** The part that the log records of a span are. */
export function logPartOf(spanId: string): string {
  return `logs of ${spanId}`
}

/** Reads rows of content, the newest first, up to a limit: the span of an agent comes last. */
export function readContent(database: DatabaseSync, contentIds: readonly number[], maxBytes: number): RunContent {
  const rows = all<{ id: number; bytes: number }>(
    database,
    'SELECT id, bytes FROM content WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id DESC',
    JSON.stringify(contentIds),
  )
  let bytes = 0
  const read = rows.filter((row, index) => (bytes += row.bytes) <= maxBytes || index === 0)
  const parts = read.toReversed().map(({ id }) => readContentRow(database, id))
  return {
    spans: parts.flatMap(({ spans }) => spans),
    logs: parts.flatMap(({ logs }) => logs),
    isCut: read.length < contentIds.length,
  }
}

/** The content of a stored run and of what was settled with it; `undefined` if the run is not stored. */
export function readContentOf(database: DatabaseSync, runId: string, maxBytes: number): RunContent | undefined {
  const [stored] = all<{ content_ids: string }>(database, 'SELECT content_ids FROM runs WHERE id = ?', runId)
  if (stored === undefined) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveRun`
  return readContent(database, JSON.parse(stored.content_ids) as number[], maxBytes)
}

/** Reads one row of content, which has little more than 1 MiB and one span. */
export function readContentRow(database: DatabaseSync, id: number): Pick<RunContent, 'spans' | 'logs'> {
  const [row] = all<{ spans: Uint8Array }>(database, 'SELECT spans FROM content WHERE id = ?', id)
  if (row === undefined) return { spans: [], logs: [] }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveContent`
  return JSON.parse(zstdDecompressSync(row.spans).toString()) as Pick<RunContent, 'spans' | 'logs'>
}

/** The run with an id among those that were settled together, including nested ones. */
export function findRun({ spans, logs, isCut }: RunContent, runId: string): AgentRun | undefined {
  const waiting = [...buildRuns(spans, { logs, lacksSpans: isCut })]
  for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
    if (run.id === runId) return run
    waiting.push(...run.children)
  }
  return undefined
}

import type { DatabaseSync } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import { buildRuns } from 'spanscore/engine'
import type { AgentRun, SourceLog, SourceSpan } from 'spanscore/engine'

import type { Signal } from '../../log/span-log.ts'
import type { RequestReader } from '../../receive/read-request.ts'
import { all, run as execute } from './page-database.ts'

/** Spans or log records of one trace, as they came. */
export interface Payload {
  readonly signal: Signal
  readonly encoding: 'protobuf' | 'json'
  readonly payload: Uint8Array
}

/** What is known of a trace. */
export interface TraceContent {
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
}

/** Stores spans and log records of a trace: the run is read from them again when somebody looks at it. */
export function saveContent(database: DatabaseSync, traceId: string, payloads: readonly Payload[]): void {
  // OTLP requests in protobuf hold only repeated fields: one after the other they are one request. JSON has a line for each.
  for (const group of Map.groupBy(payloads, ({ signal, encoding }) => `${signal} ${encoding}`).values()) {
    const [one] = group
    if (one === undefined) continue
    const newline = Buffer.from('\n')
    const parts = group.flatMap(({ payload }) =>
      one.encoding === 'json' ? [withoutNewlines(payload), newline] : [payload],
    )
    execute(
      database,
      'INSERT INTO content (trace_id, signal, encoding, payload) VALUES (?, ?, ?, ?)',
      traceId,
      one.signal,
      one.encoding,
      zstdCompressSync(Buffer.concat(parts)),
    )
  }
}

/** Pretty-printed JSON has newlines between its tokens, and none within its strings. */
function withoutNewlines(payload: Uint8Array): Uint8Array {
  return payload.includes(10) ? payload.map((byte) => (byte === 10 || byte === 13 ? 32 : byte)) : payload
}

/** Reads what is stored of a trace. */
export function readContent(database: DatabaseSync, reader: RequestReader, traceId: string): TraceContent {
  const rows = all<{ signal: Signal; encoding: 'protobuf' | 'json'; payload: Uint8Array }>(
    database,
    'SELECT signal, encoding, payload FROM content WHERE trace_id = ? ORDER BY id',
    traceId,
  )
  return decodeAll(
    reader,
    traceId,
    rows.flatMap(({ signal, encoding, payload }): Payload[] => {
      const whole = zstdDecompressSync(payload)
      if (encoding === 'protobuf') return [{ signal, encoding, payload: whole }]
      const lines = whole.toString().split('\n')
      return lines.filter((line) => line !== '').map((line) => ({ signal, encoding, payload: Buffer.from(line) }))
    }),
  )
}

/** Decodes spans and log records. A span that was stored twice is given once. */
export function decodeAll(reader: RequestReader, traceId: string, payloads: readonly Payload[]): TraceContent {
  const spans = new Map<string, SourceSpan>()
  const logs: SourceLog[] = []
  for (const each of payloads) {
    const decoded = reader.decode({ ...each, traceId })
    for (const span of decoded.spans) if (!spans.has(span.spanId)) spans.set(span.spanId, span)
    logs.push(...decoded.logs)
  }
  return { spans: [...spans.values()], logs }
}

/** The run of an id among the runs of a trace, those that another run started included. */
export function findRun({ spans, logs }: TraceContent, runId: string): AgentRun | undefined {
  const waiting = [...buildRuns(spans, { logs })]
  for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
    if (run.id === runId) return run
    waiting.push(...run.children)
  }
  return undefined
}

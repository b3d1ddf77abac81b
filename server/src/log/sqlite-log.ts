import type { StatementSync } from 'node:sqlite'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import type { DataFolder } from './data-folder.ts'
import type { Append, EmittedRun, ForwardedRequest, LogRecord, Signal, SpanLog } from './span-log.ts'

/** Payloads of this size and more are compressed: spans are text, and the disk is slower than the processor. */
const COMPRESS_FROM_BYTES = 1024

const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** The first bytes of a compressed payload (RFC 8878, section 3.1.1). No OTLP request begins with them. */
const ZSTD_MAGIC = 0xfd2fb528

/** Records that are read at once when the service starts. */
const PAGE = 1000

/** How long it is remembered that a run was scored, beyond the time that its records are kept. */
const EMITTED_KEPT_MS = 24 * 3_600_000

interface Waiting {
  readonly append: Append
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * A log in a folder on disk. Requests that arrive at the same time share one transaction, and are answered when it is on the
 * disk.
 */
export class SqliteLog implements SpanLog {
  readonly isDurable = true
  readonly #folder: DataFolder
  readonly #nowMs: () => number
  readonly #statements: ReturnType<typeof prepare>
  #waiting: Waiting[] = []
  /** Changes that may wait for the next transaction: after a crash they are made again. */
  #later: (() => void)[] = []
  #isScheduled = false
  #isClosed = false
  #onRecords: ((records: readonly LogRecord[]) => void) | undefined
  #heldBytes: number
  #waitingToForward: number

  /** @param nowMs Milliseconds since the epoch. */
  constructor(folder: DataFolder, nowMs: () => number) {
    this.#folder = folder
    this.#nowMs = nowMs
    this.#statements = prepare(folder)
    this.#heldBytes = numberIn(this.#statements.bytes.get(), 'bytes')
    this.#waitingToForward = numberIn(this.#statements.forwardCount.get(), 'count')
    this.#statements.forgetEmitted.run(nowMs() - EMITTED_KEPT_MS)
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  get waitingToForward(): number {
    return this.#waitingToForward
  }

  append(append: Append): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ append, resolve, reject })
      this.#schedule()
    })
  }

  read(onRecords: (records: readonly LogRecord[]) => void): void {
    let after = 0
    for (;;) {
      const rows = this.#statements.page.all(after, PAGE)
      if (rows.length === 0) break
      const records = rows.map((row) => this.#toRecord(row))
      after = records.at(-1)?.offset ?? after
      onRecords(records)
    }
    this.#onRecords = onRecords
  }

  readTrace(traceId: string): readonly LogRecord[] {
    return this.#statements.ofTrace.all(traceId).map((row) => this.#toRecord(row))
  }

  finish(offsets: Iterable<number>): void {
    const list = [...offsets]
    if (list.length === 0) return
    this.#laterDo(() => {
      for (const offset of list) {
        const row = this.#statements.remove.get(offset)
        if (row !== undefined) this.#heldBytes -= numberIn(row, 'bytes')
      }
    })
  }

  retire(offset: number, spanIds: Iterable<string>): void {
    const list = [...spanIds]
    this.#laterDo(() => {
      for (const spanId of list) this.#statements.retire.run(offset, spanId, offset)
    })
  }

  markEmitted(runs: readonly EmittedRun[]): void {
    const timeMs = this.#nowMs()
    this.#laterDo(() => {
      for (const { traceId, spanId, spanCount } of runs)
        this.#statements.markEmitted.run(traceId, spanId, spanCount, timeMs)
    })
  }

  emittedSpanCount(traceId: string, spanId: string): number | undefined {
    const row = this.#statements.emitted.get(traceId, spanId)
    return row === undefined ? undefined : numberIn(row, 'span_count')
  }

  nextToForward(limit: number): readonly ForwardedRequest[] {
    return this.#statements.nextForward.all(limit).map((row) => ({
      id: numberIn(row, 'id'),
      signal: signalOf(row['signal']),
      contentType: String(row['content_type']),
      contentEncoding: String(row['content_encoding']),
      body: bytesOf(row['body']),
    }))
  }

  forwarded(ids: readonly number[]): void {
    this.#laterDo(() => {
      for (const id of ids) {
        const row = this.#statements.removeForward.get(id)
        if (row === undefined) continue
        this.#heldBytes -= numberIn(row, 'bytes')
        this.#waitingToForward -= 1
      }
    })
  }

  close(): void {
    if (this.#isClosed) return
    this.#commit()
    this.#isClosed = true
    this.#folder.close()
  }

  #laterDo(change: () => void): void {
    this.#later.push(change)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    setImmediate(() => this.#commit())
  }

  #commit(): void {
    this.#isScheduled = false
    if (this.#isClosed) return
    const waiting = this.#waiting
    const later = this.#later
    this.#waiting = []
    this.#later = []
    if (waiting.length === 0 && later.length === 0) return
    const { database } = this.#folder
    const timeMs = this.#nowMs()
    const records: LogRecord[] = []
    try {
      database.exec('BEGIN IMMEDIATE')
      for (const { append } of waiting) this.#insert(append, timeMs, records)
      for (const change of later) change()
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      this.#later.unshift(...later)
      for (const { reject } of waiting) reject(error)
      return
    }
    for (const { append, resolve } of waiting) {
      if (append.forward !== undefined) {
        this.#heldBytes += append.forward.body.byteLength
        this.#waitingToForward += 1
      }
      resolve()
    }
    if (records.length > 0) this.#onRecords?.(records)
  }

  #insert({ records, forward }: Append, timeMs: number, into: LogRecord[]): void {
    for (const record of records) {
      const { traceId, signal, encoding, payload } = record
      const stored = packed(payload)
      const { lastInsertRowid } = this.#statements.insert.run(traceId, signal, encoding, timeMs, stored)
      this.#heldBytes += stored.byteLength
      into.push({ ...record, offset: Number(lastInsertRowid), timeMs })
    }
    if (forward === undefined) return
    this.#statements.insertForward.run(forward.signal, forward.contentType, forward.contentEncoding, forward.body)
  }

  #toRecord(row: Row): LogRecord {
    const offset = numberIn(row, 'offset')
    const retired = this.#statements.retired.all(offset).map((each) => String(each['span_id']))
    return {
      offset,
      traceId: String(row['trace_id']),
      signal: signalOf(row['signal']),
      encoding: row['encoding'] === 'json' ? 'json' : 'protobuf',
      timeMs: numberIn(row, 'time_ms'),
      payload: unpacked(bytesOf(row['payload'])),
      ...(retired.length > 0 && { retired: new Set(retired) }),
    }
  }
}

type Row = NonNullable<ReturnType<StatementSync['get']>>

function prepare({ database }: DataFolder) {
  const columns = '"offset", trace_id, signal, encoding, time_ms, payload'
  return {
    insert: database.prepare(
      'INSERT INTO records (trace_id, signal, encoding, time_ms, payload) VALUES (?, ?, ?, ?, ?)',
    ),
    page: database.prepare(`SELECT ${columns} FROM records WHERE "offset" > ? ORDER BY "offset" LIMIT ?`),
    ofTrace: database.prepare(`SELECT ${columns} FROM records WHERE trace_id = ? ORDER BY "offset"`),
    remove: database.prepare('DELETE FROM records WHERE "offset" = ? RETURNING length(payload) AS bytes'),
    retire: database.prepare(
      'INSERT OR IGNORE INTO retired ("offset", span_id) SELECT ?, ? WHERE EXISTS (SELECT 1 FROM records WHERE "offset" = ?)',
    ),
    retired: database.prepare('SELECT span_id FROM retired WHERE "offset" = ?'),
    markEmitted: database.prepare(
      'INSERT INTO emitted (trace_id, span_id, span_count, time_ms) VALUES (?, ?, ?, ?) ' +
        'ON CONFLICT (trace_id, span_id) DO UPDATE SET span_count = excluded.span_count, time_ms = excluded.time_ms',
    ),
    emitted: database.prepare('SELECT span_count FROM emitted WHERE trace_id = ? AND span_id = ?'),
    forgetEmitted: database.prepare(
      'DELETE FROM emitted WHERE time_ms < ? AND trace_id NOT IN (SELECT trace_id FROM records)',
    ),
    insertForward: database.prepare(
      'INSERT INTO forward (signal, content_type, content_encoding, body) VALUES (?, ?, ?, ?)',
    ),
    nextForward: database.prepare(
      'SELECT id, signal, content_type, content_encoding, body FROM forward ORDER BY id LIMIT ?',
    ),
    removeForward: database.prepare('DELETE FROM forward WHERE id = ? RETURNING length(body) AS bytes'),
    forwardCount: database.prepare('SELECT count(*) AS count FROM forward'),
    bytes: database.prepare(
      'SELECT coalesce((SELECT sum(length(payload)) FROM records), 0) + coalesce((SELECT sum(length(body)) FROM forward), 0) AS bytes',
    ),
  }
}

function numberIn(row: Row | undefined, column: string): number {
  return Number(row?.[column] ?? 0)
}

function packed(payload: Uint8Array): Uint8Array {
  return payload.byteLength < COMPRESS_FROM_BYTES ? payload : zstdCompressSync(payload, FASTEST)
}

function unpacked(stored: Uint8Array): Uint8Array {
  if (stored.byteLength < 4) return stored
  const isCompressed = new DataView(stored.buffer, stored.byteOffset, 4).getUint32(0, true) === ZSTD_MAGIC
  return isCompressed ? zstdDecompressSync(stored) : stored
}

function signalOf(value: unknown): Signal {
  return value === 'logs' ? 'logs' : 'traces'
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array()
}

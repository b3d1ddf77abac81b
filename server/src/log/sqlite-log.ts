import type { StatementSync } from 'node:sqlite'
import { constants, zstdCompressSync } from 'node:zlib'

import type { DataFolder } from './data-folder.ts'
import type { Append, ForwardedRequest, LogRecord, Signal, SpanLog } from './span-log.ts'
import { TurnTable } from './turn-table.ts'

/** Uncompressed bodies from this size on are compressed: spans are text, and the disk is slower than the CPU. */
const COMPRESS_FROM_BYTES = 4096

const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Records per read at the start of the service. */
const PAGE = 100

/** Maximum milliseconds that deferrable changes wait to share a transaction with a request. */
const LATER_MS = 100

/** How long the write-ahead log may keep what was deleted. Emptying it costs a few writes, so it is not done at once. */
const FORGET_MS = 30_000

/**
 * Bytes that requests leave free. Deleting delivered requests needs space, too: the write-ahead log takes 32 MiB, and as much
 * once more when it is moved into the database.
 */
const RESERVE_BYTES = 64 * 1024 * 1024

interface Waiting {
  readonly append: Append
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * A log in a folder on disk. Requests that arrive at the same time share one transaction, and are acknowledged when it is on disk.
 */
export class SqliteLog implements SpanLog {
  readonly isDurable = true
  readonly turns: TurnTable
  readonly #folder: DataFolder
  readonly #nowMs: () => number
  readonly #statements: ReturnType<typeof prepare>
  #waiting: Waiting[] = []
  /** Changes for the next transaction. After a crash, they are made again. */
  #finished: number[] = []
  #states = new Map<number, Uint8Array>()
  #forwarded: number[] = []
  #isScheduled = false
  #later: NodeJS.Timeout | undefined
  #forgetting: NodeJS.Timeout | undefined
  #isClosed = false
  #onRecords: ((records: readonly LogRecord[]) => void) | undefined
  #failure: string | undefined
  #heldBytes: number
  #waitingToForward: number

  /**
   * @param nowMs milliseconds since the epoch
   * @param maxTurnBytes maximum bytes of the runs of conversations
   */
  constructor(folder: DataFolder, nowMs: () => number, maxTurnBytes = Number.POSITIVE_INFINITY) {
    this.#folder = folder
    this.#nowMs = nowMs
    this.#statements = prepare(folder)
    this.turns = new TurnTable({
      database: folder.database,
      nowMs,
      onChanged: () => this.#scheduleLater(),
      flush: () => this.#commit(),
      maxBytes: maxTurnBytes,
      hasRoom: () => this.#shortage(0) === undefined,
    })
    this.#heldBytes = numberIn(this.#statements.bytes.get(), 'bytes')
    this.#waitingToForward = numberIn(this.#statements.forwardCount.get(), 'count')
  }

  get failure(): string | undefined {
    const what = this.#shortage(0) ?? this.#failure
    return what === undefined ? undefined : `The log could not be written: ${what}.`
  }

  get heldBytes(): number {
    return this.#heldBytes + this.turns.bytes
  }

  get waitingToForward(): number {
    return this.#waitingToForward
  }

  append(append: Append): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ append, resolve, reject })
      if (this.#isScheduled || this.#isClosed) return
      this.#isScheduled = true
      setImmediate(() => this.#commit())
    })
  }

  read(onRecords: (records: readonly LogRecord[]) => void): void {
    let after = 0
    for (;;) {
      const records = this.#statements.page.all(after, PAGE).map((row) => toRecord(row))
      if (records.length === 0) break
      after = records.at(-1)?.offset ?? after
      onRecords(records)
    }
    this.#onRecords = onRecords
  }

  *records(): Generator<LogRecord> {
    for (const { offset } of this.#statements.offsets.all()) {
      const record = this.readRecord(Number(offset))
      if (record !== undefined) yield record
    }
  }

  replaceBody(offset: number, body: Uint8Array): void {
    const before = this.readRecord(offset)?.body.byteLength ?? 0
    const kept = packed({ body, contentEncoding: '' })
    this.#statements.replaceBody.run(kept.body, kept.contentEncoding, offset)
    this.#heldBytes += kept.body.byteLength - before
  }

  emptyWriteAheadLog(): void {
    this.#commit()
    this.#folder.emptyWriteAheadLog()
  }

  readRecord(offset: number): LogRecord | undefined {
    const row = this.#statements.one.get(offset)
    return row === undefined ? undefined : toRecord(row)
  }

  update({ finished, states }: Parameters<SpanLog['update']>[0]): void {
    for (const offset of finished) {
      this.#finished.push(offset)
      this.#states.delete(offset)
    }
    for (const [offset, ofIndex] of states) this.#states.set(offset, ofIndex)
    this.#scheduleLater()
  }

  nextToForward(limit: number): readonly ForwardedRequest[] {
    return this.#statements.nextForward.all(limit).map((row) => ({
      id: numberIn(row, 'id'),
      signal: signalOf(row['signal']),
      contentType: String(row['content_type']),
      contentEncoding: String(row['content_encoding']),
      body: bytesOf(row['body']),
      passed: String(row['passed']),
    }))
  }

  forwarded(ids: readonly number[]): void {
    this.#forwarded.push(...ids)
    this.#scheduleLater()
  }

  latestOffsetBefore(timeMs: number): number {
    return numberIn(this.#statements.latestBefore.get(timeMs), 'latest')
  }

  dropForwardedBefore(timeMs: number): number {
    const ids = this.#statements.forwardBefore.all(timeMs).map((row) => numberIn(row, 'id'))
    if (ids.length > 0) this.forwarded(ids)
    return ids.length
  }

  close(): void {
    if (this.#isClosed) return
    clearTimeout(this.#later)
    clearTimeout(this.#forgetting)
    this.#commit()
    this.#isClosed = true
    this.#folder.close()
  }

  #scheduleLater(): void {
    if (!this.#isClosed) this.#later ??= setTimeout(() => this.#commit(), LATER_MS)
  }

  #commit(): void {
    this.#isScheduled = false
    clearTimeout(this.#later)
    this.#later = undefined
    if (this.#isClosed) return
    const waiting = this.#takeWaiting()
    const { database } = this.#folder
    const hasLater = this.#finished.length + this.#states.size + this.#forwarded.length > 0 || this.turns.hasChanges
    if (waiting.length === 0 && !hasLater) return
    const timeMs = this.#nowMs()
    const records: LogRecord[] = []
    // Counters only change once the transaction has succeeded.
    let heldBytes = this.#heldBytes
    let waitingToForward = this.#waitingToForward
    try {
      database.exec('BEGIN IMMEDIATE')
      for (const { append } of waiting) {
        heldBytes += this.#insert(append, timeMs, records)
        if (append.forward !== undefined) waitingToForward += 1
      }
      for (const offset of this.#finished) {
        heldBytes -= numberIn(this.#statements.remove.get(offset), 'bytes')
        this.#statements.removeStates.run(offset)
      }
      for (const [offset, ofIndex] of this.#states) this.#statements.writeStates.run(offset, ofIndex)
      for (const id of this.#forwarded) {
        const row = this.#statements.removeForward.get(id)
        if (row === undefined) continue
        heldBytes -= numberIn(row, 'bytes')
        waitingToForward -= 1
      }
      this.turns.write()
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      this.#failure = error instanceof Error ? error.message : 'unknown error'
      for (const { reject } of waiting) reject(error)
      if (hasLater) this.#scheduleLater()
      return
    }
    this.#failure = undefined
    this.#heldBytes = heldBytes
    this.#waitingToForward = waitingToForward
    if (this.#finished.length + this.#forwarded.length > 0 || this.turns.hasChanges) this.#forgetLater()
    this.turns.written()
    this.#finished = []
    this.#states = new Map()
    this.#forwarded = []
    for (const { resolve } of waiting) resolve()
    if (records.length > 0) this.#onRecords?.(records)
  }

  #forgetLater(): void {
    if (this.#isClosed) return
    this.#forgetting ??= setTimeout(() => {
      this.#forgetting = undefined
      try {
        this.#folder.emptyWriteAheadLog()
      } catch {
        // The next transaction meets the same trouble, and reports it.
        this.#forgetLater()
      }
    }, FORGET_MS).unref()
  }

  /** The requests for the next transaction: none, if the disk has no room for them. */
  #takeWaiting(): readonly Waiting[] {
    const waiting = this.#waiting
    this.#waiting = []
    if (waiting.length === 0) return waiting
    const bytes = waiting.reduce(
      (sum, { append: { record, forward } }) => sum + (record?.body.byteLength ?? 0) + (forward?.body.byteLength ?? 0),
      0,
    )
    const shortage = this.#shortage(bytes)
    if (shortage === undefined) return waiting
    for (const { reject } of waiting) reject(new Error(shortage))
    return []
  }

  #shortage(bytes: number): string | undefined {
    return this.#folder.hasRoomFor(RESERVE_BYTES + 2 * bytes) ? undefined : 'its disk is almost full'
  }

  /** @returns the number of bytes written */
  #insert({ record, forward }: Append, timeMs: number, into: LogRecord[]): number {
    let bytes = 0
    if (record !== undefined) {
      const { signal, encoding } = record
      const { body, contentEncoding } = packed(record)
      const { lastInsertRowid } = this.#statements.insert.run(signal, encoding, contentEncoding, timeMs, body)
      bytes += body.byteLength
      into.push({ ...record, offset: Number(lastInsertRowid), timeMs })
    }
    if (forward !== undefined) {
      const { contentType, contentEncoding, body, passed } = forward
      this.#statements.insertForward.run(forward.signal, contentType, contentEncoding, body, timeMs, passed)
      bytes += forward.body.byteLength
    }
    return bytes
  }
}

type Row = NonNullable<ReturnType<StatementSync['get']>>

function prepare({ database }: DataFolder) {
  const select =
    'SELECT records."offset", signal, encoding, content_encoding, time_ms, body, of_index ' +
    'FROM records LEFT JOIN states ON states."offset" = records."offset"'
  return {
    insert: database.prepare(
      'INSERT INTO records (signal, encoding, content_encoding, time_ms, body) VALUES (?, ?, ?, ?, ?)',
    ),
    page: database.prepare(`${select} WHERE records."offset" > ? ORDER BY records."offset" LIMIT ?`),
    one: database.prepare(`${select} WHERE records."offset" = ?`),
    offsets: database.prepare('SELECT "offset" FROM records ORDER BY "offset"'),
    replaceBody: database.prepare(
      'UPDATE records SET body = ?, encoding = \'protobuf\', content_encoding = ? WHERE "offset" = ?',
    ),
    remove: database.prepare('DELETE FROM records WHERE "offset" = ? RETURNING length(body) AS bytes'),
    removeStates: database.prepare('DELETE FROM states WHERE "offset" = ?'),
    writeStates: database.prepare('INSERT OR REPLACE INTO states ("offset", of_index) VALUES (?, ?)'),
    insertForward: database.prepare(
      'INSERT INTO forward (signal, content_type, content_encoding, body, time_ms, passed) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    nextForward: database.prepare(
      'SELECT id, signal, content_type, content_encoding, body, passed FROM forward ORDER BY id LIMIT ?',
    ),
    removeForward: database.prepare('DELETE FROM forward WHERE id = ? RETURNING length(body) AS bytes'),
    latestBefore: database.prepare('SELECT coalesce(max("offset"), 0) AS latest FROM records WHERE time_ms < ?'),
    forwardBefore: database.prepare('SELECT id FROM forward WHERE time_ms < ?'),
    forwardCount: database.prepare('SELECT count(*) AS count FROM forward'),
    bytes: database.prepare(
      'SELECT coalesce((SELECT sum(length(body)) FROM records), 0) + coalesce((SELECT sum(length(body)) FROM forward), 0) AS bytes',
    ),
  }
}

function toRecord(row: Row): LogRecord {
  const states = row['of_index']
  return {
    offset: numberIn(row, 'offset'),
    signal: signalOf(row['signal']),
    encoding: row['encoding'] === 'json' ? 'json' : 'protobuf',
    contentEncoding: String(row['content_encoding']),
    timeMs: numberIn(row, 'time_ms'),
    body: bytesOf(row['body']),
    ...(states instanceof Uint8Array && { states }),
  }
}

function numberIn(row: Row | undefined, column: string): number {
  return Number(row?.[column] ?? 0)
}

function packed({ body, contentEncoding }: { readonly body: Uint8Array; readonly contentEncoding: string }) {
  return contentEncoding === '' && body.byteLength >= COMPRESS_FROM_BYTES
    ? { body: zstdCompressSync(body, FASTEST), contentEncoding: 'zstd' }
    : { body, contentEncoding }
}

function signalOf(value: unknown): Signal {
  return value === 'logs' ? 'logs' : 'traces'
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array()
}

import { DatabaseSync } from 'node:sqlite'

import type { Append, ForwardedRequest, LogRecord, SpanLog } from './span-log.ts'
import { INSTRUCTION_SCHEMA, TURN_SCHEMA, TurnTable } from './turn-table.ts'

/** A log in memory. Its contents are lost when the process ends. */
export class MemoryLog implements SpanLog {
  readonly isDurable = false
  readonly failure = undefined
  readonly turns: TurnTable
  readonly #nowMs: () => number
  readonly #records = new Map<number, LogRecord>()
  readonly #forward = new Map<number, ForwardedRequest & { readonly timeMs: number }>()
  #onRecords: ((records: readonly LogRecord[]) => void) | undefined
  #nextOffset = 1
  #nextForwardId = 1
  #heldBytes = 0

  /**
   * @param nowMs milliseconds since the epoch
   * @param maxTurnBytes maximum bytes of the runs of conversations
   */
  constructor(nowMs: () => number, maxTurnBytes = Number.POSITIVE_INFINITY) {
    this.#nowMs = nowMs
    const database = new DatabaseSync(':memory:')
    database.exec(TURN_SCHEMA)
    database.exec(INSTRUCTION_SCHEMA)
    const write = (): void => {
      this.turns.write()
      this.turns.written()
    }
    this.turns = new TurnTable({
      database,
      nowMs,
      onChanged: write,
      flush: write,
      maxBytes: maxTurnBytes,
      hasRoom: () => true,
    })
  }

  get heldBytes(): number {
    return this.#heldBytes + this.turns.bytes
  }

  get waitingToForward(): number {
    return this.#forward.size
  }

  append({ record, forward }: Append): Promise<void> {
    if (forward !== undefined) {
      const id = this.#nextForwardId++
      this.#forward.set(id, { ...forward, id, timeMs: this.#nowMs() })
      this.#heldBytes += forward.body.byteLength
    }
    if (record !== undefined) {
      const offset = this.#nextOffset++
      const timeMs = this.#nowMs()
      const { signal, encoding, contentEncoding, body } = record
      this.#records.set(offset, { offset, timeMs, signal, encoding, contentEncoding, body })
      this.#heldBytes += body.byteLength
      this.#onRecords?.([{ ...record, offset, timeMs }])
    }
    return Promise.resolve()
  }

  read(onRecords: (records: readonly LogRecord[]) => void): void {
    this.#onRecords = onRecords
  }

  records(): Iterable<LogRecord> {
    return [...this.#records.values()]
  }

  replaceBody(offset: number, body: Uint8Array): void {
    const record = this.#records.get(offset)
    if (record === undefined) return
    this.#heldBytes += body.byteLength - record.body.byteLength
    this.#records.set(offset, { ...record, encoding: 'protobuf', contentEncoding: '', body })
  }

  emptyWriteAheadLog(): void {
    // There is none.
  }

  readRecord(offset: number): LogRecord | undefined {
    return this.#records.get(offset)
  }

  update({ finished }: { readonly finished: readonly number[] }): void {
    for (const offset of finished) {
      this.#heldBytes -= this.#records.get(offset)?.body.byteLength ?? 0
      this.#records.delete(offset)
    }
  }

  nextToForward(limit: number): readonly ForwardedRequest[] {
    return [...this.#forward.values()].slice(0, limit)
  }

  forwarded(ids: readonly number[]): void {
    for (const id of ids) {
      this.#heldBytes -= this.#forward.get(id)?.body.byteLength ?? 0
      this.#forward.delete(id)
    }
  }

  latestOffsetBefore(timeMs: number): number {
    let latest = 0
    for (const record of this.#records.values()) {
      if (record.timeMs >= timeMs) break
      latest = record.offset
    }
    return latest
  }

  dropForwardedBefore(timeMs: number): number {
    const old = [...this.#forward.values()].filter((each) => each.timeMs < timeMs)
    this.forwarded(old.map(({ id }) => id))
    return old.length
  }

  close(): void {
    this.#onRecords = undefined
  }
}

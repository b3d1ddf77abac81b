import type { Append, EmittedRun, ForwardedRequest, LogRecord, SpanLog } from './span-log.ts'

/** A log that lives as long as the process. What it holds is lost when the process ends. */
export class MemoryLog implements SpanLog {
  readonly isDurable = false
  readonly #nowMs: () => number
  readonly #records = new Map<number, LogRecord>()
  readonly #byTrace = new Map<string, Set<number>>()
  /** By trace, then by the span of the run. */
  readonly #emitted = new Map<string, Map<string, number>>()
  readonly #forward = new Map<number, ForwardedRequest>()
  #onRecords: ((records: readonly LogRecord[]) => void) | undefined
  #nextOffset = 1
  #nextForwardId = 1
  #heldBytes = 0

  /** @param nowMs Milliseconds since the epoch. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  get waitingToForward(): number {
    return this.#forward.size
  }

  append({ records, forward }: Append): Promise<void> {
    const timeMs = this.#nowMs()
    const appended = records.map((record) => ({ ...record, offset: this.#nextOffset++, timeMs }))
    for (const record of appended) {
      this.#records.set(record.offset, record)
      this.#heldBytes += record.payload.byteLength
      const offsets = this.#byTrace.get(record.traceId)
      if (offsets === undefined) this.#byTrace.set(record.traceId, new Set([record.offset]))
      else offsets.add(record.offset)
    }
    if (forward !== undefined) {
      const id = this.#nextForwardId++
      this.#forward.set(id, { ...forward, id })
      this.#heldBytes += forward.body.byteLength
    }
    if (appended.length > 0) this.#onRecords?.(appended)
    return Promise.resolve()
  }

  read(onRecords: (records: readonly LogRecord[]) => void): void {
    this.#onRecords = onRecords
  }

  readTrace(traceId: string): readonly LogRecord[] {
    return [...(this.#byTrace.get(traceId) ?? [])].flatMap((offset) => this.#records.get(offset) ?? [])
  }

  finish(offsets: Iterable<number>): void {
    for (const offset of offsets) {
      const record = this.#records.get(offset)
      if (record === undefined) continue
      this.#records.delete(offset)
      this.#heldBytes -= record.payload.byteLength
      const ofTrace = this.#byTrace.get(record.traceId)
      ofTrace?.delete(offset)
      if (ofTrace?.size !== 0) continue
      this.#byTrace.delete(record.traceId)
      this.#emitted.delete(record.traceId)
    }
  }

  retire(): void {
    // Only a log that is read again needs to know.
  }

  markEmitted(runs: readonly EmittedRun[]): void {
    for (const { traceId, spanId, spanCount } of runs) {
      const ofTrace = this.#emitted.get(traceId)
      if (ofTrace === undefined) this.#emitted.set(traceId, new Map([[spanId, spanCount]]))
      else ofTrace.set(spanId, spanCount)
    }
  }

  emittedSpanCount(traceId: string, spanId: string): number | undefined {
    return this.#emitted.get(traceId)?.get(spanId)
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

  close(): void {
    this.#onRecords = undefined
  }
}

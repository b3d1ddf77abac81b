import type { DecodedRecord, LogRecord, SpanLog } from './span-log.ts'

/** Records whose content is kept when it was read again: runs that are due together came in the same requests. */
const MAX_KEPT = 16

/** Reads the content of records again that is not in memory any more. */
export class RecordContents {
  readonly #log: Pick<SpanLog, 'readRecord'>
  readonly #decode: (record: LogRecord) => DecodedRecord
  /** In the order in which they were read. */
  readonly #kept = new Map<number, DecodedRecord>()

  constructor(log: Pick<SpanLog, 'readRecord'>, decode: (record: LogRecord) => DecodedRecord) {
    this.#log = log
    this.#decode = decode
  }

  /**
   * The content of a record; `undefined` where the log does not hold it any more.
   *
   * @throws Error where it does not decode
   */
  of(offset: number): DecodedRecord | undefined {
    const known = this.#kept.get(offset)
    if (known !== undefined) return known
    const record = this.#log.readRecord(offset)
    if (record === undefined) return undefined
    const decoded = this.#decode(record)
    this.#kept.set(offset, decoded)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break
      this.#kept.delete(oldest)
    }
    return decoded
  }

  /** Nothing is read again for now. */
  forget(): void {
    this.#kept.clear()
  }
}

import { releaseBody } from './record-body.ts'
import type { RecordBody } from './record-body.ts'
import type { LogRecord, SpanLog } from './span-log.ts'

/** Maximum bytes to cache: runs that are due together often came in the same requests. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024

/** Reads bodies of records from the log that are no longer in memory. */
export class RecordContents {
  readonly #log: Pick<SpanLog, 'readRecord'>
  readonly #bodyOf: (record: LogRecord) => RecordBody
  /** In reading order. */
  readonly #kept = new Map<number, RecordBody>()
  #keptBytes = 0

  constructor(log: Pick<SpanLog, 'readRecord'>, bodyOf: (record: LogRecord) => RecordBody) {
    this.#log = log
    this.#bodyOf = bodyOf
  }

  /**
   * The body of a record, which may be used until the next call; `undefined` if the record is no longer on the log.
   *
   * @throws Error if it cannot be read
   */
  of(offset: number): RecordBody | undefined {
    const known = this.#kept.get(offset)
    if (known !== undefined) return known
    const record = this.#log.readRecord(offset)
    if (record === undefined) return undefined
    const body = this.#bodyOf(record)
    this.#kept.set(offset, body)
    this.#keptBytes += body.bytes.byteLength
    for (const [oldest, dropped] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_BYTES || oldest === offset) break
      this.#kept.delete(oldest)
      this.#keptBytes -= dropped.bytes.byteLength
      releaseBody(dropped)
    }
    return body
  }

  /** Clears the cache. */
  forget(): void {
    for (const body of this.#kept.values()) releaseBody(body)
    this.#kept.clear()
    this.#keptBytes = 0
  }
}

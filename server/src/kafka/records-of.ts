import type { RecordsBatch } from '@platformatic/kafka'

/** A record of a partition. */
export interface FetchedRecord {
  readonly offset: number
  /** When the broker appended it, in milliseconds since the epoch. */
  readonly appendMs: number
  /** Empty if it has none. */
  readonly key: string
  readonly value: Uint8Array
  readonly headers: ReadonlyMap<string, string>
}

/** Header of a record that is a part of a commit, and no message. */
export const COMMIT_HEADER = 'spanscore-commit'

/** Shared by all records without headers, which most are. */
const NO_HEADERS: FetchedRecord['headers'] = new Map()

/** Bit of a batch's attributes: transaction markers instead of records. */
const IS_CONTROL = 1 << 5
/** Bit of a batch's attributes: the timestamp is the append time. */
const IS_APPEND_TIME = 1 << 3

/**
 * The records of fetched batches from an offset on.
 *
 * @returns the records, the offset to read next, after any that the broker left out, and whether the times of the latest batch are the
 *   broker's; `undefined` if there is none
 */
export function recordsOf(
  batches: readonly RecordsBatch[],
  from: number,
): { readonly read: readonly FetchedRecord[]; readonly next: number; readonly isAppendTime: boolean | undefined } {
  const read: FetchedRecord[] = []
  let next = from
  let isLatestAppendTime: boolean | undefined
  for (const batch of batches) {
    const first = Number(batch.firstOffset)
    next = Math.max(next, first + batch.lastOffsetDelta + 1)
    if ((batch.attributes & IS_CONTROL) !== 0) continue
    const isAppendTime = (batch.attributes & IS_APPEND_TIME) !== 0
    isLatestAppendTime = isAppendTime
    for (const { offsetDelta, timestampDelta, key, value, headers } of batch.records) {
      const offset = first + offsetDelta
      // A compressed batch is returned whole, from its first record on.
      if (offset < from) continue
      read.push({
        offset,
        appendMs: Number(isAppendTime ? batch.maxTimestamp : batch.firstTimestamp + timestampDelta),
        key: String(key ?? ''),
        value: value ?? new Uint8Array(),
        headers:
          headers.length === 0 ? NO_HEADERS : new Map(headers.map(([name, text]) => [String(name), String(text)])),
      })
    }
  }
  return { read, next, isAppendTime: isLatestAppendTime }
}

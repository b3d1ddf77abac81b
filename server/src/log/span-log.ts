import type { HeldSpan, LogFacts } from '../traces/held-span.ts'
import type { RecordBytes } from './record-body.ts'
import type { TurnTable } from './turn-table.ts'

/** The contents of a log's record. */
export type Signal = 'traces' | 'logs'

/**
 * What is known of a record's spans and log records, in body order, identified by their index. `undefined` for one that is left out because it is too large,
 * or was written by spanscore itself.
 */
export interface DecodedRecord {
  readonly spans: readonly (HeldSpan | undefined)[]
  /** Their indexes continue those of the spans. */
  readonly logs: readonly (LogFacts | undefined)[]
  readonly bytes: RecordBytes
}

/** The body of an OTLP export request, as received. */
export interface NewRecord {
  readonly signal: Signal
  readonly encoding: 'protobuf' | 'json'
  /** The compression of the body, as in HTTP; empty if there is none. */
  readonly contentEncoding: string
  readonly body: Uint8Array
  /** The decoded contents of a request that was just received, to avoid decoding it twice. */
  readonly decoded?: DecodedRecord
}

/** A record on the log. */
export interface LogRecord extends NewRecord {
  /** Increases with each record. */
  readonly offset: number
  /** When it was appended, in milliseconds since the epoch. This is the time of the log, whatever the senders' clocks show. */
  readonly timeMs: number
  /** Whether its spans have waited since then, because it was taken over from another process. */
  readonly isReadAgain?: boolean
  /** The state of each of its spans and log records, by index; absent if all are open. See `record-states.ts`. */
  readonly states?: Uint8Array
}

/** A request to forward unchanged. */
export interface ForwardedRequest {
  readonly id: number
  readonly signal: Signal
  readonly contentType: string
  /** As in HTTP; empty for none. */
  readonly contentEncoding: string
  readonly body: Uint8Array
  /** The services that it has passed, as in `INSTANCE_HEADER`; empty for none. */
  readonly passed: string
}

/** What one request appends, atomically. */
export interface Append {
  /** Absent if the request has nothing that can be part of a run. */
  readonly record?: NewRecord | undefined
  readonly forward?: Omit<ForwardedRequest, 'id'> | undefined
}

/**
 * Stores spans until their run is complete and its scores were acknowledged. Everything that `append` has acknowledged survives a crash if
 * the log is durable; the memory log is not.
 */
export interface SpanLog {
  /** Whether appended records survive a crash. */
  readonly isDurable: boolean
  /** Resolves when the record is on the log. The reader receives it afterwards, in offset order. */
  append(append: Append): Promise<void>
  /** Passes all unfinished records to the reader, oldest first, then each new one. Called once. */
  read(onRecords: (records: readonly LogRecord[]) => void): void
  /** One unfinished record; `undefined` if it is no longer on the log. */
  readRecord(offset: number): LogRecord | undefined
  /**
   * Removes finished records and saves changed states, atomically. It may be written later, because after a crash the same changes are made
   * again.
   */
  update(changes: { readonly finished: readonly number[]; readonly states: ReadonlyMap<number, Uint8Array> }): void
  /** Requests that wait to be forwarded, oldest first. */
  nextToForward(limit: number): readonly ForwardedRequest[]
  /** These requests were forwarded and acknowledged. */
  forwarded(ids: readonly number[]): void
  /** The offset of the latest record that was appended before a time; 0 if there is none. */
  latestOffsetBefore(timeMs: number): number
  /** Drops requests that have waited since before a time. @returns how many */
  dropForwardedBefore(timeMs: number): number
  /** Bytes of stored bodies, and of the runs of conversations. */
  readonly heldBytes: number
  /** Why the log could not be written the last time; `undefined` if it could. */
  readonly failure?: string | undefined
  /** How many requests wait to be forwarded. */
  readonly waitingToForward: number
  /** All unfinished records; absent if the log cannot go back. */
  records?(): Iterable<LogRecord>
  /** Replaces the body of a record by protobuf of the same length, with the same spans in the same order. */
  replaceBody?(offset: number, body: Uint8Array): void
  /** Empties what the disk still has of deleted records. */
  emptyWriteAheadLog?(): void
  /** The runs of conversations; absent if the log cannot keep them. They are written together with the changes of `update`. */
  readonly turns?: TurnTable
  close(): void
}

import type { DecodedAgain, SourceLog, SourceSpan } from 'spanscore/engine'

/** What a record of the log holds. */
export type Signal = 'traces' | 'logs'

/**
 * The spans and log records of one record, in their order in the body: their index identifies them. `undefined` is left out: it
 * is too large, or spanscore itself wrote it.
 */
export interface DecodedRecord {
  readonly spans: readonly (SourceSpan | undefined)[]
  /** Their indexes continue those of the spans. */
  readonly logs: readonly (SourceLog | undefined)[]
  readonly bytes: RecordBytes
}

/**
 * What the spans and log records of one request are decoded from, once more, when their run is complete. In memory for as long as
 * one of them holds it: bytes cost the garbage collector nothing while they wait.
 */
export interface RecordBody {
  /** In protobuf, decompressed. */
  readonly bytes: Uint8Array
  /** How many spans and log records hold it. */
  holders: number
  /** Decodes them, once it has been asked for. */
  again?: DecodedAgain
}

/** The body of a record, and where its spans and log records are in it: for each index where it starts and where it ends. */
export interface RecordBytes {
  readonly body: RecordBody
  readonly places: readonly number[]
}

/** The body of one OTLP export request, as it was received. */
export interface NewRecord {
  readonly signal: Signal
  readonly encoding: 'protobuf' | 'json'
  /** How the body is compressed, in the terms of HTTP; empty where it is not. */
  readonly contentEncoding: string
  readonly body: Uint8Array
  /** What was read of it, where it has just been received, so that it is decoded once. */
  readonly decoded?: DecodedRecord
}

/** A record that is on the log. */
export interface LogRecord extends NewRecord {
  /** Increases with every record. */
  readonly offset: number
  /** When it was appended: milliseconds since the epoch. This is the time of the log, whatever the clocks of the senders show. */
  readonly timeMs: number
  /** Whether its spans have waited since that time, because it was taken over from another process, and not since now. */
  readonly isReadAgain?: boolean
  /** The state of each span and log record in it, by index; absent where all are open. See `record-states.ts`. */
  readonly states?: Uint8Array
}

/** A request that is to be passed on as it came. */
export interface ForwardedRequest {
  readonly id: number
  readonly signal: Signal
  readonly contentType: string
  /** Of HTTP; empty for none. */
  readonly contentEncoding: string
  readonly body: Uint8Array
}

/** What one request appends: all of it or nothing. */
export interface Append {
  /** Absent where the request holds nothing that can be part of a run. */
  readonly record?: NewRecord | undefined
  readonly forward?: Omit<ForwardedRequest, 'id'> | undefined
}

/**
 * Where spans wait until their run is complete and its scores have been acknowledged. What `append` has answered survives a
 * crash, if the log is durable at all: the memory log is not.
 */
export interface SpanLog {
  /** Whether what was appended is still there after a crash. */
  readonly isDurable: boolean
  /** Resolves when the record is on the log. It is given to the reader afterwards, in the order of the offsets. */
  append(append: Append): Promise<void>
  /** Gives the reader all records that are not finished, oldest first, and from then on every new one. Called once. */
  read(onRecords: (records: readonly LogRecord[]) => void): void
  /** One record that is not finished; `undefined` if the log does not hold it any more. */
  readRecord(offset: number): LogRecord | undefined
  /**
   * Nothing of some records is needed any more, and the states of others have changed: all of it survives a crash, or nothing.
   * It may be written later, for after a crash the same changes are made again.
   */
  update(changes: { readonly finished: readonly number[]; readonly states: ReadonlyMap<number, Uint8Array> }): void
  /** Requests that wait to be passed on, oldest first. */
  nextToForward(limit: number): readonly ForwardedRequest[]
  /** These requests were acknowledged where they were passed on to. */
  forwarded(ids: readonly number[]): void
  /** The offset of the latest record that was appended before a time; 0 where there is none. */
  latestOffsetBefore(timeMs: number): number
  /** Gives up requests that have waited since before a time. @returns How many. */
  dropForwardedBefore(timeMs: number): number
  /** Bytes of bodies that are held. */
  readonly heldBytes: number
  /** Requests that wait to be passed on. */
  readonly waitingToForward: number
  close(): void
}

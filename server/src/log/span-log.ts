import type { SourceLog, SourceSpan } from 'spanscore/engine'

/** What a record of the log holds. */
export type Signal = 'traces' | 'logs'

/** Spans, or log records, of one trace, as they arrived in one request. */
export interface NewRecord {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  readonly signal: Signal
  /** The body of an OTLP export request with these spans alone. */
  readonly payload: Uint8Array
  readonly encoding: 'protobuf' | 'json'
  /** What was read of it, where it has just been received: so that it is decoded once. */
  readonly decoded?: DecodedSpans
}

/** Spans and log records, decoded. */
export interface DecodedSpans {
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
}

/** A record that is on the log. */
export interface LogRecord extends NewRecord {
  /** Increases with every record. */
  readonly offset: number
  /** When it was appended: milliseconds since the epoch. The time of the log, whatever the senders' clocks say. */
  readonly timeMs: number
  /** Spans in it whose runs are finished. */
  readonly retired?: ReadonlySet<string>
}

/** A run whose scores were acknowledged, as it was then. */
export interface EmittedRun {
  readonly traceId: string
  readonly spanId: string
  /** How many spans it had: its revision. */
  readonly spanCount: number
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
  readonly records: readonly NewRecord[]
  readonly forward?: Omit<ForwardedRequest, 'id'> | undefined
}

/**
 * Where spans wait until their run is complete and its scores have been acknowledged. What `append` has answered survives a
 * crash, as far as the log is durable at all: the memory log is not.
 */
export interface SpanLog {
  /** Whether what was appended is still there after a crash. */
  readonly isDurable: boolean
  /** Resolves when the records are on the log. They are given to the reader afterwards, in the order of their offsets. */
  append(append: Append): Promise<void>
  /** Gives the reader all records that are not finished, oldest first, and from then on every new one. Called once. */
  read(onRecords: (records: readonly LogRecord[]) => void): void
  /** The records of a trace that are not finished, oldest first. */
  readTrace(traceId: string): readonly LogRecord[]
  /** Nothing of these records is needed any more. */
  finish(offsets: Iterable<number>): void
  /** These spans of a record are not needed any more; others of it are. */
  retire(offset: number, spanIds: Iterable<string>): void
  /** Remembers that the scores of these runs were acknowledged. */
  markEmitted(runs: readonly EmittedRun[]): void
  /** How many spans a run had when its scores were acknowledged last; `undefined` where they never were. */
  emittedSpanCount(traceId: string, spanId: string): number | undefined
  /** Requests that wait to be passed on, oldest first. */
  nextToForward(limit: number): readonly ForwardedRequest[]
  /** These requests were acknowledged where they were passed on to. */
  forwarded(ids: readonly number[]): void
  /** Bytes of payload that are held. */
  readonly heldBytes: number
  /** Requests that wait to be passed on. */
  readonly waitingToForward: number
  close(): void
}

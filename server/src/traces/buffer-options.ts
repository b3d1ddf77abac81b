import type { WaitingTimes } from './when-due.ts'

/** When a unit counts as complete, and how much is held. All times are times of the log, in milliseconds. */
export interface TraceBufferOptions extends WaitingTimes {
  /** How long the place of a scored run is kept for spans that come late. */
  readonly lingerMs: number
  /** Spans of one trace that are held; later ones are left out, and its runs are incomplete. */
  readonly maxSpansPerTrace: number
  /** Bytes that the content of one trace may take, with the same consequence. */
  readonly maxBytesPerTrace: number
  /** Spans whose place in their trace is held. Those of scored runs give way first. */
  readonly maxSpans: number
  /** Bytes of content in memory, as an estimate. What is over it is read from the log when it is needed. */
  readonly maxContentBytes: number
}

/** What the buffer counts. */
export interface TraceBufferCounts {
  /** Spans that came after their run was finished. */
  late: number
  /** Spans that were left out because their trace holds too many, or too much. */
  overLimit: number
  /** Spans that were given up unscored, because they were kept for as long as they may be. */
  expired: number
  /** Units whose place was given up before `lingerMs`, because too many spans are held. */
  cutShort: number
}

import type { WaitingTimes } from './when-due.ts'

/** When a unit is complete, and how much is held. All times are times of the log, in milliseconds. */
export interface HeldTracesOptions extends WaitingTimes {
  /** How long the place of a scored run is kept for late spans. */
  readonly lingerMs: number
  /** Maximum number of spans of one trace. Later ones are left out, and its runs are incomplete. */
  readonly maxSpansPerTrace: number
  /** Maximum bytes of one trace's content, with the same consequence. */
  readonly maxBytesPerTrace: number
  /** Maximum number of spans whose place in their trace is held. Those of scored runs are dropped first. */
  readonly maxSpans: number
  /** Estimated bytes of content in memory. Above it, content is read from the log when needed. */
  readonly maxContentBytes: number
}

/** What the buffer counts. */
export interface HeldTracesCounts {
  /** Spans that arrived after their run was finished. */
  late: number
  /** Spans that were left out at a limit of their trace. */
  overLimit: number
  /** Spans that were dropped because they were too old, before their scores were delivered. */
  expired: number
  /** Units that were dropped before `lingerMs`, because too many spans are held. */
  cutShort: number
}

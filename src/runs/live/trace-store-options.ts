import type { LiveRun } from './live-run.ts'

/** The limits of the store, and its callbacks. */
export interface TraceStoreOptions {
  /** Maximum number of open runs. */
  readonly maxOpenRuns: number
  /** Maximum number of spans that are kept of a run. */
  readonly maxSpansPerRun: number
  /** Maximum bytes of content in all open runs together. */
  readonly maxContentBytes: number
  /** Milliseconds after which an open run is evicted. */
  readonly maxRunAgeMs: number
  /** Milliseconds to wait for the open recognised spans of a run. */
  readonly settleMs: number
  /** When it began to receive spans, in milliseconds since the epoch. */
  readonly sinceMs: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Whether any scorer could want a run of this trace. Called once, when the first span of the trace starts. */
  readonly isWanted: (traceId: string) => boolean
  /** Whether nested runs are counted even if nobody wants them. */
  readonly countsNested: boolean
  /** Whether a run that was settled at its deadline is settled again when its last spans have ended. */
  readonly rescore: boolean
  /**
   * Called once for each ended run, when it is as complete as it will be. With `rescore`, it is also called earlier, with `isFinal` false,
   * if spans stayed open for too long.
   */
  readonly onSettled: (run: LiveRun, isFinal: boolean) => void
  /** Called when the oldest run is evicted at a limit while its agent is still open. */
  readonly onEvicted: (run: LiveRun) => void
  /** Called for a run that another instrumentation already recorded. It is not scored again. */
  readonly onDuplicate: () => void
  /** Called when a recognised span arrives after its run was closed. */
  readonly onLate: () => void
}

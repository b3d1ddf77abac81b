import type { EndedRun } from './ended-run.ts'

/** Why a run is given up: nothing happened in its trace for long, or open runs take too much memory. */
export type Eviction = 'idle' | 'bounds'

/** The limits of the buffer, and its callbacks. */
export interface TraceBufferOptions {
  /** Maximum number of spans that are kept of a run. */
  readonly maxSpansPerRun: number
  /** Maximum bytes, estimated, that all open runs take together. */
  readonly memoryBytes: number
  /** Milliseconds without the start or the end of a span in its trace after which an open run is evicted. */
  readonly maxIdleMs: number
  /** Milliseconds to wait for the open recognised spans of a run. */
  readonly settleMs: number
  /** Above it, a run is laid out in a later turn of the event loop. */
  readonly maxSyncBytes: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Whether any scorer could want a run of this trace. Called once, when the first recognised span of the trace starts. */
  readonly isWanted: (traceId: string) => boolean
  /** Whether runs that tools of other runs started are handed over, too. */
  readonly countsNested: boolean
  /** Whether a run that was handed over at its deadline is handed over again when its last spans have ended. */
  readonly rescore: boolean
  /**
   * Called once for each ended run, when it is as complete as it will be. With `rescore`, it is also called earlier, with `isFinal` false,
   * if spans stayed open for too long.
   */
  readonly onSettled: (run: EndedRun, isFinal: boolean) => void
  /** Called when a run is given up at a limit before its agent has ended. */
  readonly onEvicted: (run: EndedRun, why: Eviction) => void
  /** Called for a run that another instrumentation already recorded. It is not scored again. */
  readonly onDuplicate: () => void
  /** Called when a recognised span arrives after its run was final, or above `maxSpansPerRun`. */
  readonly onLate: () => void
  /** Called when something begins to wait, so that `nextDeadlineMs` may be earlier than before. */
  readonly onWaiting: () => void
}

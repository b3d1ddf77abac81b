import type { LiveRun } from './live-run.ts'

/** Bounds of the store, and what it reports. */
export interface TraceStoreOptions {
  readonly maxOpenRuns: number
  readonly maxSpansPerRun: number
  readonly maxContentBytes: number
  /** Milliseconds after which an open run is evicted. */
  readonly maxRunAgeMs: number
  /** Milliseconds that a run whose recognised spans are still open is waited for. */
  readonly settleMs: number
  /** From when on it sees spans start: milliseconds since the epoch. */
  readonly sinceMs: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Whether any scorer could want a run of this trace: asked once, when its first span starts. */
  readonly isWanted: (traceId: string) => boolean
  /** Whether runs of nested agents are counted even where nobody wants them. */
  readonly countsNested: boolean
  /** Whether a run that was waited for long enough is settled again when its last spans have ended. */
  readonly rescore: boolean
  /**
   * Nothing more is waited for: the run is as complete as it gets. Called once for each run that ended; with `rescore` also
   * before that, `isFinal` false, where spans were open for too long.
   */
  readonly onSettled: (run: LiveRun, isFinal: boolean) => void
  /** A run was given up while its agent was still open: the oldest one, when a bound was reached. */
  readonly onEvicted: (run: LiveRun) => void
  /** A run was seen that another instrumentation had recorded before: it is not scored again. */
  readonly onDuplicate: () => void
  /** A recognised span came after its run was closed. */
  readonly onLate: () => void
}

import type { AgentRun, SpanSet } from 'spanscore/engine'

/** A run to score. */
export interface OfferedRun {
  readonly run: AgentRun
  readonly spans: SpanSet
  /** False if an earlier revision was counted: its scores are written but not counted again. */
  readonly isCounted: boolean
  /** Whether judges have seen enough revisions of it. @default false */
  readonly isJudgedEnough?: boolean
}

/** Scores runs, and writes the results to the signals of the run's own service. */
export interface RunScorer {
  /** Whether further runs should wait, because the queue of code scorers is nearly full. */
  readonly isBusy: boolean
  /**
   * Resolves when every scorer has scored, skipped or failed, or when the run was left to another process. Never rejects.
   *
   * @param lost aborted when another process scores the run from now on
   * @returns false if another process scores the run
   */
  offer(offered: OfferedRun, lost: AbortSignal): Promise<boolean>
  /** Leaves the runs about which judges have still to be asked to another process. */
  leaveUnasked(): void
}

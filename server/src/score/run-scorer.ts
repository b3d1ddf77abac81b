import type { AgentRun } from 'spanscore/engine'

/** A run that is put before the scorers. */
export interface OfferedRun {
  readonly run: AgentRun
  /** Ids of its recognised spans, sorted. Their number is its revision. */
  readonly spanIds: readonly string[]
  /** False where an earlier revision has been counted: its scores are written, and not counted again. */
  readonly isCounted: boolean
}

/** Scores runs, and writes what comes of it to the signals of the run's own service. */
export interface RunScorer {
  /** Whether more runs should wait: scores by code would soon be refused because their queue is full. */
  readonly isBusy: boolean
  /** Resolves when every scorer has scored, skipped or failed. Never rejects. */
  offer(offered: OfferedRun): Promise<void>
}

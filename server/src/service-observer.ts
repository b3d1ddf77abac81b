import type { Evaluation } from 'spanscore/engine'

import type { LogRecord } from './log/span-log.ts'
import type { OfferedRun } from './score/run-scorer.ts'
import type { ScoreIds } from './score/score-ids.ts'
import type { SettledSpans } from './traces/trace-buffer.ts'

/**
 * Sees what the service does while it does it. It is called between two steps of the work: it must neither wait nor throw, and
 * leaves everything that takes time to another thread.
 */
export interface ServiceObserver {
  /** Records of which something is held: spans of runs that are in progress, or of runs that are scored again. */
  arrived(records: readonly LogRecord[]): void
  /** Spans were settled; these runs in them are put before the scorers now. None, where they were scored before. */
  settled(settled: SettledSpans, offers: readonly OfferedRun[]): void
  /** One scorer's result for a run, or for a run that it started. */
  scored(runId: string, ids: ScoreIds, evaluation: Evaluation): void
  /** These spans of a trace are not needed any more. */
  finished(traceId: string, spanIds: readonly string[]): void
}

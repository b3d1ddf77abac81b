import type { LogRecord } from './log/span-log.ts'
import type { OfferedRun } from './score/run-scorer.ts'
import type { ScoredUnit } from './score/service-scorer.ts'
import type { SettledSpans } from './traces/held-traces.ts'

/**
 * Observes the service's work. It is called between two steps, so it must neither block nor throw, and leaves anything slow to another
 * thread.
 */
export interface ServiceObserver {
  /** Records with spans that are held: of runs in progress, or of runs that are scored again. */
  arrived(records: readonly LogRecord[]): void
  /** Spans were settled, and these of their runs are scored now; none if they were scored before. */
  settled(settled: SettledSpans, offers: readonly OfferedRun[]): void
  /** One scorer's result. */
  scored(scored: ScoredUnit): void
  /** Resolves when everything that it was shown up to now is kept, so that a run whose scores are delivered is missing nowhere. Never rejects. */
  stored(): Promise<void>
  /** These spans of a trace are no longer needed. */
  finished(traceId: string, spanIds: readonly string[]): void
}

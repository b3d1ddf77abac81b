import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../../model/agent-run.ts'
import type { HighResolutionTime } from '../../spans/from-sdk-span.ts'

/** The span of a run's scores, reduced to what scoring reads. */
export interface ScoredSpan {
  spanContext(): SpanContext
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> }
  readonly endTime: HighResolutionTime
}

/**
 * A run to score, whatever its source. Sampling, scorers, budgets, judges, emission and ledger treat a run of this process (`LiveRun`) and
 * one from a service's log alike.
 */
export interface ScorableRun {
  readonly traceId: string
  readonly span: ScoredSpan
  /** Whether the agent was started by another agent's tool call. */
  readonly nested: boolean
  /** Whether there is no agent span. Scores are then only on events and late spans. */
  readonly agentless: boolean
  /** False if no scorer could want the run; then `current` returns `undefined`. */
  readonly wanted: boolean
  /** Bytes of content in its spans, an upper bound for the cost of reading it. */
  readonly contentBytes: number
  /** The cost of putting the run together, as bytes of content that take equally long to read. */
  readonly effortBytes: number
  /** Whether more spans of the run may arrive. */
  readonly hasOpenSpans: boolean
  /** Scoring's own state of the run. */
  scoringState: object | undefined
  /**
   * Reads the spans of a large run until the time is up, which is most of the work of putting it together. Returns whether everything was
   * read.
   */
  readAhead(isTimeUp: () => boolean): boolean
  /** The run with all spans so far; `undefined` if they do not form one. */
  current(): AgentRun | undefined
}

import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../../model/agent-run.ts'
import type { HighResolutionTime } from '../../spans/from-sdk-span.ts'

/** The span that the scores of a run belong to, as far as scoring reads it. */
export interface ScoredSpan {
  spanContext(): SpanContext
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: { readonly attributes: Readonly<Record<string, unknown>> }
  readonly endTime: HighResolutionTime
}

/**
 * A run that can be scored, wherever its spans came from. From here on sampling, scorers, budgets, judges, emission and the
 * ledger are the same for a run of this process (`LiveRun`) and for one that a service reads from a log.
 */
export interface ScorableRun {
  readonly traceId: string
  readonly span: ScoredSpan
  /** True for the run of an agent that another agent's tool call started. */
  readonly nested: boolean
  /** True where there is no agent span: scores go on events and late spans alone. */
  readonly agentless: boolean
  /** False where no scorer could want the run: `current` gives nothing. */
  readonly wanted: boolean
  /** Bytes of content in its spans, an upper estimate of what reading it takes. */
  readonly contentBytes: number
  /** What it takes to put it together, in bytes of content that would take as long to read. */
  readonly effortBytes: number
  /** Whether spans of the run may still come. */
  readonly hasOpenSpans: boolean
  /** What scoring keeps with the run. */
  scoringState: object | undefined
  /**
   * Reads what the spans of a large run hold until time is up: most of the work of putting it together. Gives whether there is nothing
   * more to read.
   */
  readAhead(isTimeUp: () => boolean): boolean
  /** The run as it is known by now; `undefined` if its spans make none. */
  current(): AgentRun | undefined
}

import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../../model/agent-run.ts'
import type { ScorableRun } from './scorable-run.ts'

/** A run read from a log, with what scoring needs to know about it. */
export interface LoggedRun {
  readonly run: AgentRun
  /** The span for its scores. */
  readonly target: SpanContext
  readonly nested: boolean
  /** False if no scorer could want the run. */
  readonly wanted: boolean
}

/** Makes a run from a log scorable. */
export function toScorable({ run, target, nested, wanted }: LoggedRun): ScorableRun {
  const endSeconds = Math.trunc(run.endTimeMs / 1000)
  return {
    traceId: run.traceId,
    span: {
      spanContext: () => target,
      attributes: run.attributes,
      resource: { attributes: run.resource },
      endTime: [endSeconds, Math.round((run.endTimeMs - endSeconds * 1000) * 1e6)],
    },
    nested,
    agentless: false,
    wanted,
    // The service limits the size of traces, and its scorers delay no application request.
    contentBytes: 0,
    effortBytes: 0,
    hasOpenSpans: false,
    scoringState: undefined,
    readAhead: () => true,
    current: () => run,
  }
}

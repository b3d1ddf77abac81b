import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../../model/agent-run.ts'
import type { ScorableRun } from './scorable-run.ts'

/** What a run that was read from a log is put before the scorers with. */
export interface LoggedRun {
  readonly run: AgentRun
  /** The span that its scores belong to. */
  readonly target: SpanContext
  readonly nested: boolean
  /** False where no scorer could want the run. */
  readonly wanted: boolean
}

/** A run that was read from a log, as one that can be scored. */
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
    // The service limits what a trace may hold, and its scorers delay no request of an application.
    contentBytes: 0,
    effortBytes: 0,
    hasOpenSpans: false,
    scoringState: undefined,
    readAhead: () => true,
    current: () => run,
  }
}

import type { TraceSpan } from '../trace-span.ts'
import { planRuns } from './assign-spans.ts'
import { dropDuplicateRuns } from './duplicates.ts'
import { mergeSplitTraces } from './merge-split-traces.ts'
import { nestAgentlessRuns } from './nest-agentless-runs.ts'
import type { RunPlan } from './run-layout.ts'
import { arrange, compareSpans } from './tree.ts'

/**
 * Lays out the runs of linked spans, from any number of traces, live or from files. Top-level runs are ordered by start; nested ones are
 * their `children`.
 */
export function planTraces(traces: Iterable<readonly TraceSpan[]>): readonly RunPlan[] {
  const plans: RunPlan[] = []
  const loose: TraceSpan[] = []
  for (const spans of traces) {
    const planned = planRuns(arrange(spans))
    plans.push(...planned.plans)
    loose.push(...planned.loose)
  }
  return nestAgentlessRuns(mergeSplitTraces(dropDuplicateRuns(plans), loose)).toSorted((left, right) =>
    compareSpans(left.root.span, right.root.span),
  )
}

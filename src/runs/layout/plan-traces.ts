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
 *
 * @param known runs of other spans that are final. Further records of them are dropped; they themselves are not returned.
 * @param onDuplicate called with each run that another instrumentation recorded, too
 */
export function planTraces(
  traces: Iterable<readonly TraceSpan[]>,
  known: readonly RunPlan[] = [],
  onDuplicate?: (plan: RunPlan) => void,
): readonly RunPlan[] {
  const plans: RunPlan[] = [...known]
  const loose: TraceSpan[] = []
  for (const spans of traces) {
    const planned = planRuns(arrange(spans))
    plans.push(...planned.plans)
    loose.push(...planned.loose)
  }
  const ofAll = dropDuplicateRuns(plans, known, onDuplicate)
  const kept = known.length === 0 ? ofAll : ofAll.filter((plan) => !known.includes(plan))
  return nestAgentlessRuns(mergeSplitTraces(kept, loose)).toSorted((left, right) =>
    compareSpans(left.root.span, right.root.span),
  )
}

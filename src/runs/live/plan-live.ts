import { mayBeNested } from '../layout/lost-parents.ts'
import { planTraces } from '../layout/plan-traces.ts'
import { markIncomplete } from '../layout/run-layout.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'
import type { KeptSpans } from './span-group.ts'

/** Lays out the runs of spans of this process, some of which may be open. */
export function planLive(given: readonly LiveSpan[], lacksSpans: boolean): readonly RunPlan[] {
  const layout = {}
  const spans: LiveSpan[] = []
  for (const span of given) {
    // A span that is its own sibling would never come to an end.
    if (span.layout === layout) continue
    span.layout = layout
    spans.push(span)
  }
  for (const span of spans) {
    span.lookAgain()
    span.sortLogs()
    linkLive(span)
  }
  const traceId = spans[0]?.span.traceId
  const isOneTrace = spans.every((span) => span.span.traceId === traceId)
  const plans = planTraces(isOneTrace ? [spans] : Map.groupBy(spans, (span) => span.span.traceId).values())
  if (lacksSpans) for (const plan of plans) markIncomplete(plan)
  return plans
}

/** Links a span as from a file: skips spans that no dialect recognises, and spans that were dropped at a limit. */
function linkLive(span: LiveSpan): void {
  let { above } = span
  while (above !== undefined && above.layout !== span.layout) above = above.above
  const { topId, isLost, isAmbiguous } = span.wayUp
  const { isBelowLost } = span
  if (above !== undefined && !(isBelowLost && !mayBeNested(span))) span.link(above, above.span.spanId, isBelowLost)
  else span.link(undefined, topId, isLost)
  span.isAmbiguous = isAmbiguous && span.isOrphan && mayBeNested(span)
}

/** The spans of a group so far. */
export function keptSpansOf(group: LiveGroup): KeptSpans<LiveSpan> {
  const { kept, version, spans } = group
  if (kept?.version === version) return kept
  group.kept = { version, spans: [...spans], plans: undefined }
  return group.kept
}

/** All runs of kept spans. They are laid out once. */
export function plansOf(kept: KeptSpans<LiveSpan>, lacksSpans: boolean): ReadonlyMap<string, RunPlan> {
  kept.plans ??= plansById(planLive(kept.spans, lacksSpans))
  return kept.plans
}

/** These runs, and all that their tools started, by the id of their agent's span. */
export function plansById(plans: readonly RunPlan[]): ReadonlyMap<string, RunPlan> {
  const found = new Map<string, RunPlan>()
  const waiting = [...plans]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    found.set(plan.root.span.spanId, plan)
    waiting.push(...plan.children)
  }
  return found
}

/** The plan of an agent's run, among these and all runs that their tools started; `undefined` if the span is not a run's agent. */
export function findPlan(plans: readonly RunPlan[], spanId: string): RunPlan | undefined {
  const waiting = [...plans]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    if (plan.root.span.spanId === spanId) return plan
    waiting.push(...plan.children)
  }
  return undefined
}

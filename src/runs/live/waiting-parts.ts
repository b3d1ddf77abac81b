import type { RunPlan } from '../layout/run-layout.ts'
import type { TraceSpan } from '../trace-span.ts'
import { LiveSpan } from './live-span.ts'
import type { LiveGroup } from './live-span.ts'
import { planLive } from './plan-live.ts'

/** Groups whose spans form the same runs, and these runs. */
export interface WaitingPart {
  readonly groups: readonly LiveGroup[]
  readonly plans: readonly RunPlan[]
  /** When to stop waiting for calls that continue them. */
  readonly dueMs: number
}

/** How many times longer to wait for a run whose last call requested tools, because they may be running. */
const UNANSWERED_FACTOR = 15

/** Maximum number of groups that are laid out together. If more wait by the clock, the first of them are settled. */
export const MAX_WAITING = 1000

/** Maximum number of spans of several traces that are laid out together for speed. It takes about 10 ms for each 1,000. */
const MAX_SPANS_TOGETHER = 2000

/**
 * Lays out groups together, and determines which of them belong together.
 *
 * @param waiting when the last span of each group ended
 */
export function waitingParts(waiting: ReadonlyMap<LiveGroup, number>, settleMs: number): readonly WaitingPart[] {
  const wanted = [...waiting.keys()].filter((group) => group.wanted)
  const spans = wanted.flatMap((group) => [...group.spans])
  const plans = planLive(
    spans,
    wanted.some((group) => group.truncated),
  )
  const parts = new Map<LiveGroup, { groups: Set<LiveGroup>; plans: RunPlan[]; isUnanswered: boolean }>()
  for (const group of waiting.keys()) parts.set(group, { groups: new Set([group]), plans: [], isUnanswered: false })
  for (const plan of plans) {
    let part: { groups: Set<LiveGroup>; plans: RunPlan[]; isUnanswered: boolean } | undefined
    for (const group of groupsOf(plan)) {
      const other = parts.get(group)
      if (other === undefined || other === part) continue
      if (part === undefined) {
        part = other
        continue
      }
      const [into, from] = part.groups.size < other.groups.size ? [other, part] : [part, other]
      for (const each of from.groups) {
        into.groups.add(each)
        parts.set(each, into)
      }
      into.plans.push(...from.plans)
      into.isUnanswered ||= from.isUnanswered
      part = into
    }
    part?.plans.push(plan)
    if (part !== undefined && (plan.models.at(-1)?.toolCalls.length ?? 0) > 0) part.isUnanswered = true
  }
  return [...new Set(parts.values())].map(({ groups, plans: ofPart, isUnanswered }) => {
    let lastMs = 0
    for (const group of groups) lastMs = Math.max(lastMs, waiting.get(group) ?? 0)
    return { groups: [...groups], plans: ofPart, dueMs: lastMs + settleMs * (isUnanswered ? UNANSWERED_FACTOR : 1) }
  })
}

/** The groups of a run's spans, and of everything that its tools started. */
export function groupsOf(top: RunPlan): ReadonlySet<LiveGroup> {
  const groups = new Set<LiveGroup>()
  const add = (span: TraceSpan): void => {
    if (span instanceof LiveSpan) groups.add(span.group)
  }
  const waiting = [top]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    add(plan.root)
    for (const list of [plan.models, plan.tools, plan.inside]) {
      for (const span of list) {
        add(span)
        for (const inner of span.inner) add(inner)
      }
    }
    waiting.push(...plan.children)
  }
  return groups
}

/**
 * Groups in lists of those that are laid out together. Runs belong to one trace, unless they begin with a model call without a parent, or
 * their library writes spans side by side: all traces with such runs are laid out together.
 */
export function inParts(groups: readonly LiveGroup[]): readonly (readonly LiveGroup[])[] {
  const traces = Map.groupBy(groups, ({ traceId }) => traceId)
  const spread: LiveGroup[] = []
  const parts: LiveGroup[][] = [spread]
  let spans = Number.POSITIVE_INFINITY
  for (const ofTrace of traces.values()) {
    if (ofTrace.some(mayBeSpread)) {
      spread.push(...ofTrace)
      continue
    }
    const more = ofTrace.reduce((sum, group) => sum + group.spans.size, 0)
    if (spans + more > MAX_SPANS_TOGETHER) {
      parts.push([])
      spans = 0
    }
    parts.at(-1)?.push(...ofTrace)
    spans += more
  }
  return parts.flatMap(inLists)
}

/** Whether spans of other traces may belong to the runs of a group. */
function mayBeSpread({ isFlat, top }: LiveGroup): boolean {
  return isFlat || (top?.role === 'model' && top.span.parentSpanId === undefined)
}

function inLists(groups: readonly LiveGroup[]): readonly (readonly LiveGroup[])[] {
  const lists: (readonly LiveGroup[])[] = []
  for (let from = 0; from < groups.length; from += MAX_WAITING) lists.push(groups.slice(from, from + MAX_WAITING))
  return lists
}

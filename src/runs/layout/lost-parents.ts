import { isFlat } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'

/** The place of a span whose parent is named but was never seen. */
interface LostParent {
  /** The innermost agent or tool that must be above it; `undefined` if several outermost agents were active. */
  readonly at: TraceSpan | undefined
  /** True if several active runs could own the span, so that none of them gets it. */
  readonly isAmbiguous: boolean
}

/** If more agents and tools were open, the place remains unknown. */
const MAX_OPEN = 256

/** After this many comparisons in a trace, the remaining spans stay where they are. */
const MAX_COMPARISONS = 1_000_000

/**
 * Puts spans whose parents were lost below the agent that was active when they began. A parent is lost if another provider wrote it
 * or a sampler dropped it. Children of the same lost parent stay together: the first of them decides.
 *
 * @param spans Sorted by start.
 */
export function nestLost(spans: readonly TraceSpan[]): void {
  if (!spans.some(isLost)) return
  const places = new Map<string, LostParent | undefined>()
  let open: TraceSpan[] = []
  let comparisons = 0
  for (const span of spans) {
    if (isLost(span) && !places.has(span.topId) && comparisons <= MAX_COMPARISONS) {
      comparisons += open.length
      open = open.filter((other) => other.isOpen || other.span.endTimeMs + 1 >= span.span.startTimeMs)
      places.set(span.topId, mayBeNested(span) ? placeOfLost(span, open) : undefined)
    }
    // Another child may name the same parent as one of another process.
    const place = span.parent === undefined ? places.get(span.topId) : undefined
    if (place !== undefined && mayBeNested(span)) {
      span.parent = place.at
      span.topId = place.at?.span.spanId ?? span.topId
      span.isOrphan = true
      span.isAmbiguous = place.isAmbiguous
    }
    if (isPlace(span)) open.push(span)
  }
}

/** Whether a span can be placed by its start time. An agent with a lost parent is a run of its own. */
export function mayBeNested({ role, dialect, span }: Pick<TraceSpan, 'role' | 'dialect' | 'span'>): boolean {
  return role !== 'agent' && role !== 'evaluator' && role !== 'none' && !isFlat({ dialect, span })
}

/** Whether a span can be the place of spans with a lost parent. */
function isPlace({ role }: TraceSpan): boolean {
  return role === 'agent' || role === 'entry' || role === 'tool' || role === 'handoff' || role === 'evaluator'
}

/**
 * Finds the place of a span with a lost parent from the spans that were open when it began: the innermost agent or tool of the only
 * outermost agent. Returns `undefined` if no agent was active. Agents whose runs may lack the span are marked.
 *
 * @param open Agents and tools that were open then, sorted by start.
 */
function placeOfLost(lost: TraceSpan, open: readonly TraceSpan[]): LostParent | undefined {
  if (open.length === 0 || open.length > MAX_OPEN) return undefined
  const around = new Map<TraceSpan, TraceSpan | undefined>()
  const inAgent = new Set<TraceSpan>()
  const tops: TraceSpan[] = []
  for (const span of open) {
    let above = span.parent
    while (above !== undefined && !around.has(above)) above = above.parent
    around.set(span, above)
    if (above !== undefined && (isAgent(above) || inAgent.has(above))) inAgent.add(span)
    else if (isAgent(span) && mayOwn(span, lost)) tops.push(span)
  }
  // A lost parent that the agent has, too, is above the agent.
  const among = tops.filter((span) => topIdOf(span) !== lost.topId)
  const [top, another] = among
  if (top === undefined) return undefined
  if (another !== undefined) {
    for (const each of among) each.lacksSpans = true
    return { at: undefined, isAmbiguous: true }
  }
  const path = [top]
  let isAmbiguous = false
  for (const span of open) {
    let above = around.get(span)
    if (above === path.at(-1) && !isAmbiguous) {
      path.push(span)
      continue
    }
    while (above !== undefined && !path.includes(above)) above = around.get(above)
    if (above === undefined) continue
    isAmbiguous = true
    path.length = path.indexOf(above) + 1
  }
  return { at: path.at(-1), isAmbiguous }
}

/**
 * Whether a span with a lost parent may be of an agent's run. The model's client has its own instrumentation: if the framework's span between the
 * two is lost, they are of different libraries.
 */
function mayOwn(agent: TraceSpan, lost: TraceSpan): boolean {
  if (agent.dialect.name === lost.dialect.name) return true
  const isAround = agent.isOpen || agent.span.endTimeMs >= lost.span.endTimeMs
  return lost.role === 'model' && agent.role === 'agent' && isAround
}

function isAgent({ role }: TraceSpan): boolean {
  return role === 'agent' || role === 'entry'
}

function isLost({ isOrphan, parent }: TraceSpan): boolean {
  return isOrphan && parent === undefined
}

/** The id of the topmost known or named ancestor. */
function topIdOf(span: TraceSpan): string {
  let top = span
  while (top.parent !== undefined) top = top.parent
  return top.topId
}

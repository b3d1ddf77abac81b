import type { RunPlan } from '../layout/run-layout.ts'
import type { AgentlessRuns } from './agentless-runs.ts'
import { LiveSpan } from './live-span.ts'
import type { LiveGroup } from './live-span.ts'
import { findPlan, planLive } from './plan-live.ts'
import type { SpanGroups } from './span-groups.ts'
import { groupsOf } from './waiting-parts.ts'

/** How many spans are laid out together to place one. */
const MAX_SPANS_TOGETHER = 4000

/** What flat groups need of the store. */
export interface FlatGroupsParts {
  readonly groups: SpanGroups
  readonly agentless: Pick<AgentlessRuns, 'drop'>
  /** Milliseconds without a start or an end after which a group is not waited for. */
  readonly maxIdleMs: number
  readonly now: () => number
}

/**
 * Groups with spans of libraries that write the spans of a run side by side (`Dialect.isFlat`): in traces of their own, or below
 * the span of another request that is at work. Only the spans of all these groups together say which span belongs to which
 * run. So nothing of a group is decided while another one is open that was open when it ended.
 */
export class FlatGroups {
  readonly #parts: FlatGroupsParts
  readonly #groups = new Set<LiveGroup>()

  constructor(parts: FlatGroupsParts) {
    this.#parts = parts
  }

  /** Agents that have ended, and of which it is not known yet what is around them. */
  get undecided(): readonly LiveSpan[] {
    return [...this.#groups].flatMap((group) => group.undecided)
  }

  /** To be called when a span of such a library has started or ended. */
  note(group: LiveGroup): void {
    group.flatAtMs = this.#parts.now()
    this.#groups.add(group)
  }

  /** To be called when a group is over. */
  closed(group: LiveGroup): void {
    this.#groups.delete(group)
  }

  /** To be called when a group, or an agent in it, has ended: it waits for the others that are open. */
  lookBeside(group: LiveGroup): void {
    if (!group.wanted) return
    group.waitsBeside = []
    for (const other of this.#groups) if (other !== group && this.#isOpen(other)) group.waitsBeside.push(other)
  }

  /** Whether a group is waited for that was open when this one, or an agent in it, ended. */
  isHeld(group: LiveGroup): boolean {
    return group.waitsBeside.some((other) => this.#isOpen(other))
  }

  /** Whether an agent that has ended may turn out to be part of a graph that began before it and is open. */
  isUndecided(span: LiveSpan): boolean {
    return (span.isFlat && hasOpenGraph(span.group)) || this.isHeld(span.group)
  }

  /** Waits for nothing any more, as at a shutdown. */
  release(): void {
    for (const group of this.#groups) group.waitsBeside = []
  }

  /** What a span is to the runs that the groups make up together; what belongs to its run is in its group from then on. */
  place(span: LiveSpan): 'run' | 'nested' | 'part' {
    this.#takeOthers(span.group)
    const plan: RunPlan | undefined = findPlan(planLive(span.group.spans, span.group.truncated), span.span.spanId)
    return plan === undefined ? 'part' : plan.parent === undefined ? 'run' : 'nested'
  }

  #takeOthers(group: LiveGroup): void {
    const others = this.#endedBeside(group)
    if (others.length === 0) return
    const plans = planLive([...group.spans, ...others.flatMap(({ spans }) => spans)], false)
    for (const plan of plans) {
      const claimed = groupsOf(plan)
      if (!claimed.has(group) || !(plan.root instanceof LiveSpan)) continue
      const into = plan.root.group
      for (const other of claimed) {
        if (other === into) continue
        this.#parts.agentless.drop([other])
        this.#parts.groups.merge(other, into)
        this.#groups.delete(other)
      }
    }
  }

  /** Of very many the latest: all of it happens while a span is ending. */
  #endedBeside(group: LiveGroup): readonly LiveGroup[] {
    const found: LiveGroup[] = []
    let left = MAX_SPANS_TOGETHER - group.spans.length
    for (const other of [...this.#groups].toReversed()) {
      if (other === group || other.openCount > 0 || !other.wanted || other.closed) continue
      left -= other.spans.length
      if (left < 0) break
      found.push(other)
    }
    return found
  }

  #isOpen(group: LiveGroup): boolean {
    if (group.openCount === 0 || group.closed) return false
    return this.#parts.now() - group.flatAtMs <= this.#parts.maxIdleMs
  }
}

/** Whether a graph of a library that writes its spans side by side is at work in a group, or a span that may turn out to be one. */
export function hasOpenGraph({ spans }: LiveGroup): boolean {
  return spans.some((span) => {
    if (!span.isOpen || !span.isFlat) return false
    span.lookAgain()
    return span.role === 'agent' || !span.saysItsKind
  })
}

/** Whether only all spans together say what the span is: its library writes them side by side, or it is around such spans. */
export function isPlacedByAll(span: LiveSpan): boolean {
  return span.isFlat || (span.role === 'entry' && span.group.isFlat)
}

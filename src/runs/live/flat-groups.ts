import type { AgentlessRuns } from './agentless-runs.ts'
import { LiveSpan } from './live-span.ts'
import type { LiveGroup } from './live-span.ts'
import { Moment } from './moment.ts'
import type { SharedRun } from './moment.ts'
import { keptSpansOf, planLive, plansOf } from './plan-live.ts'
import type { SpanGroups } from './span-groups.ts'
import { groupsOf } from './waiting-parts.ts'

/** Maximum number of spans that are laid out together to place one. */
const MAX_SPANS_TOGETHER = 2000

/** The parts of the store that flat groups need. */
export interface FlatGroupsParts {
  readonly groups: SpanGroups
  readonly agentless: Pick<AgentlessRuns, 'drop'>
  /** After this many milliseconds without a start or end, other groups no longer wait for a group. */
  readonly maxIdleMs: number
  readonly now: () => number
}

/**
 * Groups with spans of libraries that write the spans of a run side by side (`Dialect.isFlat`), in traces of their own or below a span of
 * another request. Only all of these groups together show which span belongs to which run. So a group that ends waits for all groups that
 * are open at that moment.
 */
export class FlatGroups {
  readonly #parts: FlatGroupsParts
  readonly #groups = new Set<LiveGroup>()

  constructor(parts: FlatGroupsParts) {
    this.#parts = parts
  }

  /** Ended agents whose place in the tree is not known yet. */
  get undecided(): readonly LiveSpan[] {
    return [...this.#groups].flatMap((group) => group.undecided)
  }

  /** Must be called when a span of such a library has started or ended. */
  note(group: LiveGroup): void {
    group.flatAtMs = this.#parts.now()
    this.#groups.add(group)
  }

  /** Must be called when a group is finished. */
  closed(group: LiveGroup): void {
    this.#groups.delete(group)
  }

  /** Must be called when a group, or an agent in it, has ended. It then waits for all open groups. */
  lookBeside(group: LiveGroup): void {
    if (!group.wanted) return
    group.waitsBeside = []
    const nowMs = this.#parts.now()
    for (const other of this.#groups) if (other !== group && this.#isOpen(other, nowMs)) group.waitsBeside.push(other)
  }

  /** Whether a group waits for another one that was open when it, or an agent in it, ended. */
  isHeld(group: LiveGroup): boolean {
    if (group.waitsBeside.length === 0) return false
    const nowMs = this.#parts.now()
    return group.waitsBeside.some((other) => this.#isOpen(other, nowMs))
  }

  /** Whether an ended agent may turn out to be part of an open graph that began before it. */
  isUndecided(span: LiveSpan, moment?: Moment<LiveSpan>): boolean {
    return (span.isFlat && hasOpenGraph(span.group, moment)) || this.isHeld(span.group)
  }

  /** Stops waiting, for example at shutdown. */
  release(): void {
    for (const group of this.#groups) group.waitsBeside = []
  }

  /** The placement of a span in the runs of all groups together. The spans of its run are moved into its group. */
  place(span: LiveSpan, moment: Moment<LiveSpan> = new Moment()): 'run' | 'nested' | 'part' {
    this.#takeOthers(span.group, moment)
    const plan = plansOf(keptSpansOf(span.group), span.group.truncated).get(span.span.spanId)
    return plan === undefined ? 'part' : plan.parent === undefined ? 'run' : 'nested'
  }

  #takeOthers(group: LiveGroup, moment: Moment<LiveSpan>): void {
    if (moment.together?.has(group) !== true) moment.together = this.#layOutTogether(group)
    for (const { plan, groups } of moment.together.get(group) ?? []) {
      if (!(plan.root instanceof LiveSpan)) continue
      const into = plan.root.group
      for (const other of groups) {
        if (other === into || !this.#groups.delete(other)) continue
        this.#parts.agentless.drop([other])
        this.#parts.groups.merge(other, into)
        moment.hasOpenGraph.delete(into)
      }
    }
  }

  #layOutTogether(group: LiveGroup): ReadonlyMap<LiveGroup, readonly SharedRun<LiveSpan>[]> {
    const together = [group, ...this.#endedBeside(group)]
    const found = new Map<LiveGroup, SharedRun<LiveSpan>[]>(together.map((each) => [each, []]))
    if (together.length === 1) return found
    for (const plan of planLive(
      together.flatMap(({ spans }) => [...spans]),
      false,
    )) {
      const groups = groupsOf(plan)
      if (groups.size > 1) for (const each of groups) found.get(each)?.push({ plan, groups })
    }
    return found
  }

  /** The ended groups to lay out together; only the latest ones if there are very many, because this happens while a span is ending. */
  #endedBeside(group: LiveGroup): readonly LiveGroup[] {
    const found: LiveGroup[] = []
    let left = MAX_SPANS_TOGETHER - group.spans.size
    for (const other of [...this.#groups].toReversed()) {
      if (other === group || other.openCount > 0 || !other.wanted || other.closed) continue
      left -= other.spans.size
      if (left < 0) break
      found.push(other)
    }
    return found
  }

  #isOpen(group: LiveGroup, nowMs: number): boolean {
    return group.openCount > 0 && !group.closed && nowMs - group.flatAtMs <= this.#parts.maxIdleMs
  }
}

/** Whether a group has an open graph of a library that writes spans side by side, or an open span that may be one. */
export function hasOpenGraph(group: LiveGroup, moment?: Moment<LiveSpan>): boolean {
  const known = moment?.hasOpenGraph.get(group)
  if (known !== undefined) return known
  let isFound = false
  for (const span of group.spans) {
    if (!span.isOpen || !span.isFlat) continue
    span.lookAgain()
    isFound = span.role === 'agent' || !span.saysItsKind
    if (isFound) break
  }
  moment?.hasOpenGraph.set(group, isFound)
  return isFound
}

/** The ended spans of a group whose library writes them side by side. */
export function endedFlatSpans({ spans }: LiveGroup): readonly LiveSpan[] {
  return [...spans].filter((span) => !span.isOpen && span.isFlat)
}

/** Whether a span can only be placed with all other spans: its library writes them side by side, or it encloses such spans. */
export function isPlacedByAll(span: LiveSpan): boolean {
  return span.isFlat || (span.role === 'entry' && span.group.isFlat)
}

import type { AgentlessRuns } from './agentless-runs.ts'
import { LiveSpan } from './live-span.ts'
import type { LiveGroup } from './live-span.ts'
import { Moment } from './moment.ts'
import { keptSpansOf, planLive, plansOf } from './plan-live.ts'
import { readForLayout } from './read-ahead.ts'
import type { SpanGroups } from './span-groups.ts'
import { groupsOf } from './waiting-parts.ts'

/** Maximum number of spans that are laid out together, which takes about 10 ms for each 1,000. */
const MAX_SPANS_TOGETHER = 3000

/** The same while a span is ending, or in a turn that does more than that. */
export const FEW_SPANS_TOGETHER = 1000

/** Maximum milliseconds of one turn of the event loop for reading spans that are about to be laid out. */
const READING_MS = 10

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
 * are open at that moment. Then the groups that are ready are laid out together, and the spans of each run are moved into one group.
 */
export class FlatGroups {
  readonly #parts: FlatGroupsParts
  readonly #groups = new Set<LiveGroup>()
  #latest = 0
  #reading: Generator<undefined, void> | undefined

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
    if (this.#groups.has(group)) return
    this.#latest += 1
    group.flatOrder = this.#latest
    this.#groups.add(group)
  }

  /** Must be called when a group is finished. */
  closed(group: LiveGroup): void {
    this.#groups.delete(group)
  }

  /** Must be called when a group, or an agent in it, has ended. It then waits for all open groups. */
  lookBeside(group: LiveGroup): void {
    if (!group.wanted) return
    group.waitsUpTo = this.#latest
    group.isGathered = false
  }

  /** Whether a group waits for another one that was open when it, or an agent in it, ended. */
  isHeld(group: LiveGroup, moment: Moment<LiveSpan> = new Moment()): boolean {
    moment.oldestOpen ??= this.#twoOldest((other) => this.#isOpen(other))
    return waitsFor(group, moment.oldestOpen)
  }

  /** Whether agents are not decided yet that may turn out to own the calls of a group. */
  mayBeTaken(group: LiveGroup, moment: Moment<LiveSpan> = new Moment()): boolean {
    if (group.undecided.length > 0 || this.isHeld(group, moment)) return true
    moment.oldestUndecided ??= this.#twoOldest(({ undecided }) => undecided.length > 0)
    return waitsFor(group, moment.oldestUndecided)
  }

  /** Whether an ended agent may turn out to be part of an open graph that began before it. */
  isUndecided(span: LiveSpan, moment?: Moment<LiveSpan>): boolean {
    return (span.isFlat && hasOpenGraph(span.group, moment)) || this.isHeld(span.group, moment)
  }

  /** Whether too many spans would have to be laid out for a group while a span is ending. */
  isTooManyInHook(group: LiveGroup): boolean {
    let left = FEW_SPANS_TOGETHER - group.spans.size
    if (group.isGathered) return false
    for (const other of this.#groups) {
      if (left < 0) return true
      if (other !== group && hasEnded(other)) left -= other.spans.size
    }
    return left < 0
  }

  /** Stops waiting, for example at shutdown. */
  release(): void {
    for (const group of this.#groups) group.waitsUpTo = 0
  }

  /** The placement of a span in the runs of all groups together. The spans of its run are moved into its group. */
  place(span: LiveSpan): 'run' | 'nested' | 'part' {
    if (!span.group.isGathered) this.gather([span.group])
    const plan = plansOf(keptSpansOf(span.group), span.group.truncated).get(span.span.spanId)
    return plan === undefined ? 'part' : plan.parent === undefined ? 'run' : 'nested'
  }

  /** Reads the spans of groups first, so that the layout itself is fast. Returns whether everything was read. */
  readFirst(ready: readonly LiveGroup[]): boolean {
    const endMs = this.#parts.now() + READING_MS
    if (this.#reading === undefined) {
      const { first, beside } = this.#together(ready)
      this.#reading = readForLayout([...first, ...beside].flatMap(({ spans }) => [...spans]))
    }
    while (this.#reading.next().done !== true) if (this.#parts.now() >= endMs) return false
    this.#reading = undefined
    return true
  }

  /**
   * Moves the spans of the runs of these groups together: for all of them in the same layout, because one's spans may be another's. Returns
   * how many spans were laid out.
   */
  gather(ready: readonly LiveGroup[]): number {
    const { first, beside } = this.#together(ready)
    for (const group of first) group.isGathered = true
    if (first.size + beside.size < 2) return 0
    const spans = [...first, ...beside].flatMap((group) => [...group.spans])
    for (const plan of planLive(spans, false)) {
      const { root } = plan
      const groups = [...groupsOf(plan)]
      if (groups.length < 2 || !groups.some((group) => first.has(group)) || !(root instanceof LiveSpan)) continue
      const into = root.group
      for (const other of groups) {
        if (other === into || !this.#groups.delete(other)) continue
        this.#parts.agentless.drop([other])
        this.#parts.groups.merge(other, into)
      }
      into.isGathered = true
    }
    return spans.length
  }

  /**
   * As many of the groups that are ready as one layout can take, and ended ones beside them: those of the same trace first, then the
   * oldest.
   */
  #together(ready: readonly LiveGroup[]): { first: ReadonlySet<LiveGroup>; beside: ReadonlySet<LiveGroup> } {
    const first = new Set<LiveGroup>()
    const beside = new Set<LiveGroup>()
    let left = MAX_SPANS_TOGETHER
    for (const group of ready) {
      if (beside.has(group)) {
        first.add(group)
        continue
      }
      if (first.size > 0 && left < MAX_SPANS_TOGETHER / 2) continue
      first.add(group)
      beside.add(group)
      left -= group.spans.size
      left = addEnded(this.#parts.groups.inTrace(group.traceId), beside, left)
    }
    addEnded(this.#groups, beside, left)
    for (const group of first) beside.delete(group)
    return { first, beside }
  }

  #twoOldest(isWanted: (group: LiveGroup) => boolean): readonly LiveGroup[] {
    let [oldest, second]: (LiveGroup | undefined)[] = []
    for (const group of this.#groups) {
      if (second !== undefined && group.flatOrder > second.flatOrder) continue
      if (!isWanted(group)) continue
      if (oldest === undefined || group.flatOrder < oldest.flatOrder) [oldest, second] = [group, oldest]
      else second = group
    }
    return [oldest, second].filter((group) => group !== undefined)
  }

  #isOpen(group: LiveGroup): boolean {
    return group.openCount > 0 && !group.closed && this.#parts.now() - group.flatAtMs <= this.#parts.maxIdleMs
  }
}

/** Adds groups that have ended, while there is room for their spans. Returns the room that is left. */
function addEnded(from: Iterable<LiveGroup>, into: Set<LiveGroup>, room: number): number {
  let left = room
  for (const group of from) {
    if (into.has(group) || !group.isFlat || !hasEnded(group)) continue
    left -= group.spans.size
    if (left < 0) break
    into.add(group)
  }
  return left
}

function hasEnded(group: LiveGroup): boolean {
  return group.openCount === 0 && group.wanted && !group.closed
}

function waitsFor(group: LiveGroup, oldest: readonly LiveGroup[]): boolean {
  const [first, second] = oldest
  const other = first === group ? second : first
  return other !== undefined && other.flatOrder <= group.waitsUpTo
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

import type { Deadlines } from './deadlines.ts'
import { FEW_SPANS_TOGETHER, isPlacedByAll } from './flat-groups.ts'
import type { FlatGroups } from './flat-groups.ts'
import type { LiveRun } from './live-run.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'
import { Moment } from './moment.ts'
import type { Settlement } from './settlement.ts'

/** What is needed to decide about ended agents. */
export interface UndecidedRunsParts {
  readonly flat: FlatGroups
  readonly settlement: Settlement
  readonly deadlines: Deadlines
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** The run of an agent whose ancestors are known. */
  readonly runOf: (agent: LiveSpan, moment: Moment<LiveSpan>) => LiveRun | undefined
  /** Called when all spans of a group have ended. */
  readonly finish: (group: LiveGroup) => void
}

/**
 * Agents that ended before their ancestors were known: below a span whose kind is only known at its end, or beside spans of a library that
 * writes them side by side. Their runs are found later, after their spans were handed on.
 */
export class UndecidedRuns {
  readonly #parts: UndecidedRunsParts
  #isScheduled = false
  #nextMs: number | undefined
  /** Whether the last turn was spent on a layout, and this one is for deciding. */
  #hasGathered = false
  /** One agent of each group that has more agents than one turn decides. Groups may be merged. */
  #left: LiveSpan[] = []

  constructor(parts: UndecidedRunsParts) {
    this.#parts = parts
  }

  /** When agents are decided that may wait only for their turn, on the clock of `now`. */
  get nextMs(): number | undefined {
    return this.#nextMs
  }

  /** Must be called when a flat group has ended. Groups that waited for it are decided in a later turn, and not one by one. */
  flatEnded(group: LiveGroup): void {
    this.#parts.flat.lookBeside(group)
    this.#decideSoon()
  }

  /** Decides agents whose turn has come. */
  sweep(): void {
    if (this.#nextMs !== undefined && this.#nextMs <= this.#parts.now()) this.decideWaiting()
  }

  /** Must be called with each ended agent or entry. Returns whether it is kept here to wait. */
  takes(span: LiveSpan): boolean {
    const { group } = span
    if (group.isFlat) this.#parts.flat.lookBeside(group)
    const isUndecided = this.#isUndecided(span)
    if (!isUndecided && !this.#isTooManyInHook(span)) return false
    this.#keep(span)
    if (!isUndecided) this.#decideSoon()
    else if (group.isFlat) this.#decideFlatLater()
    return true
  }

  /** Must be called when a span has ended that may decide the ancestors of its group's undecided agents. */
  ended(span: LiveSpan): void {
    if (span.undecided !== undefined) this.#decideBelow(span)
    // An open span may have been given the attributes that determine its kind.
    const open = openAbove(span)?.above
    if (open?.undecided !== undefined) this.#decideBelow(open)
    if (span.group.undecided.length > 0 && !this.#isTooManyInHook(span)) {
      this.#decide(span.group, new Moment(), MAX_DECIDED)
    }
  }

  #decideBelow(span: LiveSpan): void {
    const next = openAbove(span)
    // Thousands of agents may have the same ancestors.
    const moment = new Moment<LiveSpan>()
    for (const [dependence, agents] of span.undecided ?? []) {
      // They all depend on the span in the same way.
      const isDecided = agents[0]?.dependsOnAbove(moment) !== true
      if (!isDecided && span.isOpen) continue
      span.undecided?.delete(dependence)
      if (!isDecided && next !== undefined) addUndecided(next.above, dependence | next.via, agents)
      else for (const agent of agents) agent.group.undecided.push(agent)
    }
    if (span.undecided?.size === 0) span.undecided = undefined
  }

  /** Decides agents of a group, and returns how many. The others keep waiting. */
  #decide(group: LiveGroup, moment: Moment<LiveSpan>, atMost: number): number {
    const waiting = group.undecided
    group.undecided = []
    let decided = 0
    for (const span of waiting) {
      if (decided === atMost) span.group.undecided.push(span)
      else if (this.#isUndecided(span, moment)) this.#keep(span, moment)
      else {
        this.#place(span, moment)
        decided += 1
      }
    }
    const last = waiting.at(-1)
    if (decided === atMost && last !== undefined && last.group.undecided.length > 0) {
      this.#left.push(last)
      this.#decideSoon()
    }
    return decided
  }

  #keep(span: LiveSpan, moment?: Moment<LiveSpan>): void {
    const open = span.group.isFlat || !span.dependsOnAbove(moment) ? undefined : openAbove(span)
    if (open === undefined) span.group.undecided.push(span)
    else addUndecided(open.above, (span.role === 'entry' ? IS_ENTRY : 0) | open.via, [span])
  }

  #place(agent: LiveSpan, moment: Moment<LiveSpan>): void {
    agent.run = this.#parts.runOf(agent, moment)
    if (agent.run !== undefined) this.#parts.settlement.wait(agent, agent.run)
  }

  /**
   * Decides agents that wait for nothing any more: those in flat groups, and those that waited for their turn. Returns whether some were
   * left for another turn.
   */
  decideWaiting(): boolean {
    const { flat, settlement, finish } = this.#parts
    this.#nextMs = undefined
    const moment = new Moment<LiveSpan>()
    const ready = flat.undecided.filter((span) => !this.#isUndecided(span, moment))
    const ungathered = [...groupsOf(ready)].filter(({ isGathered }) => !isGathered)
    const isTheirTurn = ungathered.length > 0 && !this.#hasGathered
    this.#hasGathered = isTheirTurn && flat.readFirst(ungathered) && flat.gather(ungathered) > FEW_SPANS_TOGETHER
    if (this.#hasGathered) {
      this.#decideSoon()
      return true
    }
    const agents = [...ready, ...this.#left.splice(0)]
    // Groups may have been merged, now and by each decision.
    const merged = new Moment<LiveSpan>()
    let left = MAX_DECIDED
    for (const group of groupsOf(agents)) {
      if (group.isFlat && !group.isGathered) continue
      if (left > 0) left -= this.#decide(group, merged, left)
      else this.#left.push(...group.undecided.slice(0, 1))
    }
    for (const group of groupsOf(agents)) {
      settlement.settleDue(group)
      if (group.openCount === 0 && !group.closed) finish(group)
    }
    if (flat.undecided.length > 0) this.#decideFlatLater()
    const isLeft = this.#left.length > 0 || ungathered.some((group) => !group.isGathered && group.undecided.length > 0)
    if (isLeft) this.#decideSoon()
    return isLeft
  }

  #decideSoon(): void {
    this.#nextMs ??= this.#parts.now() + INTERVAL_MS
  }

  #decideFlatLater(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#parts.deadlines.add(() => {
      this.#isScheduled = false
      this.decideWaiting()
    })
  }

  #isTooManyInHook(span: LiveSpan): boolean {
    return span.group.isFlat && this.#parts.flat.isTooManyInHook(span.group)
  }

  #isUndecided(span: LiveSpan, moment?: Moment<LiveSpan>): boolean {
    const placement = span.placement(moment)
    if (placement === 'not-yet') return true
    return isPlacedByAll(span) && (placement !== 'part' || span.isFlat) && this.#parts.flat.isUndecided(span, moment)
  }
}

function groupsOf(spans: readonly LiveSpan[]): ReadonlySet<LiveGroup> {
  return new Set(spans.map((span) => span.group))
}

/** Maximum number of agents that are decided in one turn, because their runs may be settled in the same turn. */
const MAX_DECIDED = 100

/** Milliseconds until the next of them are decided. */
const INTERVAL_MS = 5

/** How an undecided agent depends on an open span above it: whether it is an entry, and whether a tool is in between. */
const IS_ENTRY = 1
const IS_BELOW_TOOL = 2

/** The nearest open ancestor that may turn out to be an agent. */
function openAbove(span: LiveSpan): { readonly above: LiveSpan; readonly via: number } | undefined {
  let via = 0
  for (let { above } = span; above !== undefined; above = above.above) {
    if (above.isOpen && (above.role === 'entry' || !above.saidItsKind)) return { above, via }
    if (above.role === 'tool' || above.role === 'handoff') via = IS_BELOW_TOOL
  }
  return undefined
}

function addUndecided(span: LiveSpan, dependence: number, agents: LiveSpan[]): void {
  span.undecided ??= new Map()
  const others = span.undecided.get(dependence) ?? []
  // The longer list may come from any number of spans further down, and is not copied for each of them.
  const [longer, shorter] = others.length < agents.length ? [agents, others] : [others, agents]
  for (const agent of shorter) longer.push(agent)
  span.undecided.set(dependence, longer)
}

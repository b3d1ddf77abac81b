import type { Deadlines } from './deadlines.ts'
import { isPlacedByAll } from './flat-groups.ts'
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

  constructor(parts: UndecidedRunsParts) {
    this.#parts = parts
  }

  /** Must be called with each ended agent or entry. Returns whether it is kept here to wait. */
  takes(span: LiveSpan, moment?: Moment<LiveSpan>): boolean {
    const { group } = span
    if (group.isFlat) this.#parts.flat.lookBeside(group)
    if (!this.#isUndecided(span, moment)) return false
    const open = group.isFlat || !span.dependsOnAbove(moment) ? undefined : openAbove(span)
    if (open !== undefined) {
      addUndecided(open.above, (span.role === 'entry' ? IS_ENTRY : 0) | open.via, [span])
      return true
    }
    group.undecided.push(span)
    if (group.isFlat) this.#decideFlatLater()
    return true
  }

  /** Must be called when a span has ended that may decide the ancestors of its group's undecided agents. */
  ended(span: LiveSpan): void {
    if (span.undecided !== undefined) this.#decideBelow(span)
    // An open span may have been given the attributes that determine its kind.
    const open = openAbove(span)?.above
    if (open?.undecided !== undefined) this.#decideBelow(open)
    if (span.group.undecided.length > 0) this.#decide(span.group)
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
      else for (const agent of agents) if (!this.takes(agent, moment)) this.#place(agent, moment)
    }
    if (span.undecided?.size === 0) span.undecided = undefined
  }

  #decide(group: LiveGroup, moment = new Moment<LiveSpan>()): void {
    const waiting = group.undecided
    group.undecided = []
    for (const span of waiting) {
      if (this.#isUndecided(span, moment)) span.group.undecided.push(span)
      else this.#place(span, moment)
    }
  }

  #place(agent: LiveSpan, moment: Moment<LiveSpan>): void {
    agent.run = this.#parts.runOf(agent, moment)
    if (agent.run !== undefined) this.#parts.settlement.wait(agent, agent.run)
  }

  /**
   * Decides the ancestors of agents in flat groups that wait for nothing any more. Returns whether groups were left for a later turn, because
   * there are very many.
   */
  decideFlat(): boolean {
    const { flat, settlement, finish } = this.#parts
    const moment = new Moment<LiveSpan>()
    const ready = flat.undecided.filter((span) => !this.#isUndecided(span, moment))
    const all = new Set(ready.map((span) => span.group))
    const groups = new Set([...all].slice(0, MAX_GROUPS))
    for (const group of groups) this.#decide(group, moment)
    for (const group of new Set(ready.map((span) => span.group))) {
      if (group.undecided.length > 0) continue
      settlement.settleDue(group)
      if (group.openCount === 0 && !group.closed) finish(group)
    }
    if (flat.undecided.length > 0) this.#decideFlatLater()
    return all.size > groups.size
  }

  #decideFlatLater(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#parts.deadlines.add(() => {
      this.#isScheduled = false
      this.decideFlat()
    })
  }

  #isUndecided(span: LiveSpan, moment?: Moment<LiveSpan>): boolean {
    const placement = span.placement(moment)
    if (placement === 'not-yet') return true
    return isPlacedByAll(span) && (placement !== 'part' || span.isFlat) && this.#parts.flat.isUndecided(span, moment)
  }
}

/** Maximum number of flat groups that are decided in one turn. */
const MAX_GROUPS = 250

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

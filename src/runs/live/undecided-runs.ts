import type { Deadlines } from './deadlines.ts'
import { isPlacedByAll } from './flat-groups.ts'
import type { FlatGroups } from './flat-groups.ts'
import type { LiveRun } from './live-run.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'
import type { Settlement } from './settlement.ts'

/** What is needed to decide about ended agents. */
export interface UndecidedRunsParts {
  readonly flat: FlatGroups
  readonly settlement: Settlement
  readonly deadlines: Deadlines
  /** The run of an agent whose ancestors are known. */
  readonly runOf: (agent: LiveSpan) => LiveRun | undefined
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
  takes(span: LiveSpan): boolean {
    const { group } = span
    if (group.isFlat) this.#parts.flat.lookBeside(group)
    if (!this.#isUndecided(span)) return false
    group.undecided.push(span)
    if (group.isFlat) this.#decideFlatLater()
    return true
  }

  /** Must be called when a span has ended that may decide the ancestors of its group's undecided agents. */
  decide(group: LiveGroup): void {
    const decided = group.undecided.filter((span) => !this.#isUndecided(span))
    if (decided.length === 0) return
    group.undecided = group.undecided.filter((span) => !decided.includes(span))
    for (const span of decided) {
      span.run = this.#parts.runOf(span)
      if (span.run !== undefined) this.#parts.settlement.wait(span, span.run)
    }
  }

  /** Decides the ancestors of agents in flat groups that wait for nothing any more. */
  decideFlat(): void {
    const { flat, settlement, finish } = this.#parts
    const { undecided } = flat
    for (const group of new Set(undecided.map((span) => span.group))) this.decide(group)
    for (const group of new Set(undecided.map((span) => span.group))) {
      settlement.settleDue(group)
      if (group.openCount === 0 && !group.closed) finish(group)
    }
    if (undecided.some((span) => span.group.undecided.includes(span))) this.#decideFlatLater()
  }

  #decideFlatLater(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#parts.deadlines.add(() => {
      this.#isScheduled = false
      this.decideFlat()
    })
  }

  #isUndecided(span: LiveSpan): boolean {
    const { placement } = span
    if (placement === 'not-yet') return true
    return isPlacedByAll(span) && (placement !== 'part' || span.isFlat) && this.#parts.flat.isUndecided(span)
  }
}

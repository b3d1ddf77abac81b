import type { Deadlines } from './deadlines.ts'
import type { LiveRun } from './live-run.ts'
import type { LiveSpan } from './live-span.ts'
import type { SpanGroup } from './span-group.ts'

/** What a settled run does to the store. */
export interface SettlementParts {
  readonly deadlines: Deadlines
  /** True where a run that was settled by the clock is settled again when its last span has ended. */
  readonly rescore: boolean
  /** `isFinal` is false where the run is to be settled again. */
  readonly onSettled: (run: LiveRun, isFinal: boolean) => void
  /** The run of a group's outermost span is over, and the group with it. */
  readonly close: (group: SpanGroup) => void
  /** A run within a group that goes on is over. */
  readonly forget: (agent: LiveSpan) => void
}

/** Runs whose agent has ended: each is settled when no recognised span below it is open, or when the clock says so. */
export class Settlement {
  readonly #parts: SettlementParts
  #waiting = 0

  constructor(parts: SettlementParts) {
    this.#parts = parts
  }

  /** How many runs wait for spans, nested ones not counted. */
  get waiting(): number {
    return this.#waiting
  }

  /** Lets a run wait for the spans below it. */
  wait(run: LiveRun): void {
    const { group } = run.agent
    this.#waiting += run.nested ? 0 : 1
    group.waiting.push(run)
    if (run.hasOpenSpans) this.#parts.deadlines.add(() => this.#settleByClock(run))
  }

  /** Settles the runs of a group below which nothing is open any more. */
  settleDue(group: SpanGroup): void {
    if (group.waiting.length > 0) this.#settleWaiting(group, (waiting) => !waiting.hasOpenSpans)
  }

  /** Settles all runs of a group that wait. */
  settleAllOf(group: SpanGroup): void {
    if (group.waiting.length > 0) this.#settleWaiting(group, () => true)
  }

  /** Settles a run: from now on it is what it is. */
  settle(group: SpanGroup, run: LiveRun): void {
    const isRoot = group.spans[0] === run.agent
    run.freeze()
    this.#parts.onSettled(run, true)
    if (isRoot && !group.closed) this.#parts.close(group)
    else if (!group.closed && !run.nested) this.#parts.forget(run.agent)
  }

  #settleByClock(run: LiveRun): void {
    // Of two groups that became one, the other is it by now.
    const { group } = run.agent
    if (this.#parts.rescore && group.waiting.includes(run)) this.#parts.onSettled(run, false)
    else this.#settleWaiting(group, (waiting) => waiting === run)
  }

  #settleWaiting(group: SpanGroup, isDue: (run: LiveRun) => boolean): void {
    for (const run of group.waiting.filter(isDue)) {
      const index = group.waiting.indexOf(run)
      // Settling one run may have settled this one, too.
      if (index === -1) continue
      group.waiting.splice(index, 1)
      this.#waiting -= run.nested ? 0 : 1
      this.settle(group, run)
    }
  }
}

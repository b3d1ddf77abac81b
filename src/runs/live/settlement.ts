import type { Deadlines } from './deadlines.ts'
import type { LiveRun } from './live-run.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'

/** What a settled run does to the store. */
export interface SettlementParts {
  readonly deadlines: Deadlines
  /** True where a run that was settled by the clock is settled again when its last span has ended. */
  readonly rescore: boolean
  /** `isFinal` is false where the run is to be settled again. */
  readonly onSettled: (run: LiveRun, isFinal: boolean) => void
  /** A run is what it is from now on. */
  readonly settled: (agent: LiveSpan) => void
  /** The run of a group's outermost span is over, and the group with it. */
  readonly close: (group: LiveGroup) => void
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

  /** Lets the run of an agent wait for the spans below it. */
  wait(agent: LiveSpan, run: LiveRun): void {
    this.#waiting += run.nested ? 0 : 1
    agent.group.waiting.push(agent)
    if (run.hasOpenSpans) this.#parts.deadlines.add(() => this.#settleByClock(agent, run))
  }

  /** Settles the runs of a group below which nothing is open any more. */
  settleDue(group: LiveGroup): void {
    if (group.waiting.length > 0) this.#settleWaiting(group, (agent) => agent.run?.hasOpenSpans !== true)
  }

  /** Settles all runs of a group that wait. */
  settleAllOf(group: LiveGroup): void {
    if (group.waiting.length > 0) this.#settleWaiting(group, () => true)
  }

  /** Settles the run of an agent: from now on it is what it is. */
  settle(agent: LiveSpan, run: LiveRun): void {
    const { group } = agent
    const isRoot = group.spans[0] === agent
    run.freeze()
    this.#parts.settled(agent)
    this.#parts.onSettled(run, true)
    if (isRoot && !group.closed) this.#parts.close(group)
    else if (!group.closed && !run.nested) this.#parts.forget(agent)
  }

  #settleByClock(agent: LiveSpan, run: LiveRun): void {
    // Of two groups that became one, the other is it by now.
    const { group } = agent
    if (this.#parts.rescore && group.waiting.includes(agent)) this.#parts.onSettled(run, false)
    else this.#settleWaiting(group, (waiting) => waiting === agent)
  }

  #settleWaiting(group: LiveGroup, isDue: (agent: LiveSpan) => boolean): void {
    for (const agent of group.waiting.filter(isDue)) {
      const index = group.waiting.indexOf(agent)
      const { run } = agent
      // Settling one run may have settled this one, too.
      if (index === -1 || run === undefined) continue
      group.waiting.splice(index, 1)
      this.#waiting -= run.nested ? 0 : 1
      this.settle(agent, run)
    }
  }
}

import type { Deadlines } from './deadlines.ts'
import type { LiveRun } from './live-run.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'

/** The effects of a settled run on the store. */
export interface SettlementParts {
  readonly deadlines: Deadlines
  /** Whether a run that was settled by the clock is settled again when its last span has ended. */
  readonly rescore: boolean
  /** `isFinal` is false if the run will be settled again. */
  readonly onSettled: (run: LiveRun, isFinal: boolean) => void
  /** Called when a run is final. */
  readonly settled: (agent: LiveSpan) => void
  /** Called when the run of a group's outermost span is finished, and so is the group. */
  readonly close: (group: LiveGroup) => void
  /** Called when a run is finished inside a group that continues. */
  readonly forget: (agent: LiveSpan) => void
}

/** Runs whose agent has ended. Each is settled when no recognised span below it is open, or at its deadline. */
export class Settlement {
  readonly #parts: SettlementParts
  #waiting = 0

  constructor(parts: SettlementParts) {
    this.#parts = parts
  }

  /** How many runs wait for spans, without nested ones. */
  get waiting(): number {
    return this.#waiting
  }

  /** Makes the run of an agent wait for the spans below it. */
  wait(agent: LiveSpan, run: LiveRun): void {
    this.#waiting += run.nested ? 0 : 1
    agent.group.waiting.push(agent)
    if (run.hasOpenSpans) run.deadline = this.#parts.deadlines.add(() => this.#settleByClock(agent, run))
  }

  /** Settles the runs of a group that have no open spans any more. */
  settleDue(group: LiveGroup): void {
    if (group.waiting.length > 0) this.#settleWaiting(group, (agent) => agent.run?.hasOpenSpans !== true)
    if (group.undecided.length === 0) for (const agent of group.settled.splice(0)) this.#leave(agent)
  }

  /** Settles all waiting runs of a group. */
  settleAllOf(group: LiveGroup): void {
    if (group.waiting.length > 0) this.#settleWaiting(group, () => true)
  }

  /** Settles the run of an agent. Later spans do not change it. */
  settle(agent: LiveSpan, run: LiveRun): void {
    const { group } = agent
    run.freeze()
    this.#parts.settled(agent)
    this.#parts.onSettled(run, true)
    // Others of the group can only be decided with all spans.
    if (group.isFlat && group.undecided.length > 0) group.settled.push(agent)
    else this.#leave(agent)
  }

  /** Drops what a settled run no longer needs. */
  #leave(agent: LiveSpan): void {
    const { group } = agent
    if (group.closed) return
    if (group.top === agent) this.#parts.close(group)
    else if (agent.run?.nested !== true) this.#parts.forget(agent)
  }

  #settleByClock(agent: LiveSpan, run: LiveRun): void {
    // The group may have been merged into another one by now.
    const { group } = agent
    if (this.#parts.rescore && group.waiting.includes(agent)) this.#parts.onSettled(run, false)
    else this.#settleWaiting(group, (waiting) => waiting === agent)
  }

  #settleWaiting(group: LiveGroup, isDue: (agent: LiveSpan) => boolean): void {
    const due: { readonly agent: LiveSpan; readonly run: LiveRun }[] = []
    const left: LiveSpan[] = []
    for (const agent of group.waiting) {
      if (!isDue(agent)) left.push(agent)
      else if (agent.run !== undefined) due.push({ agent, run: agent.run })
    }
    group.waiting = left
    for (const { run } of due) {
      this.#waiting -= run.nested ? 0 : 1
      // A deadline would keep the spans in memory until its time.
      if (run.deadline !== undefined) run.deadline.due = undefined
      // What is dropped with one run may belong to another one too.
      run.freeze()
    }
    // The group is closed with the run of its outermost span.
    const { top } = group
    for (const { agent, run } of due) if (agent !== top) this.settle(agent, run)
    for (const { agent, run } of due) if (agent === top) this.settle(agent, run)
  }
}

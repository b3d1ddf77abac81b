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
    agent.group.waiting.add(agent)
    agent.group.due.push(agent)
    if (run.hasOpenSpans) run.deadline = this.#parts.deadlines.add(() => this.#settleByClock(agent, run))
  }

  /** Settles the runs of a group that have no open spans any more. */
  settleDue(group: LiveGroup): void {
    if (group.waiting.size > 0) this.#settleEach(group, dueOf(group))
    if (group.undecided.length === 0) for (const agent of group.settled.splice(0)) this.#leave(agent)
  }

  /** Settles all waiting runs of a group. */
  settleAllOf(group: LiveGroup): void {
    if (group.waiting.size > 0) this.#settleEach(group, [...group.waiting])
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
    if (this.#parts.rescore && group.waiting.has(agent)) this.#parts.onSettled(run, false)
    else this.#settleEach(group, [agent])
  }

  /** Settles those of the agents whose runs wait. */
  #settleEach(group: LiveGroup, agents: readonly LiveSpan[]): void {
    const due: { readonly agent: LiveSpan; readonly run: LiveRun }[] = []
    for (const agent of agents) {
      if (group.waiting.delete(agent) && agent.run !== undefined) due.push({ agent, run: agent.run })
    }
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

/** The agents of a group whose runs wait for nothing any more. */
function dueOf(group: LiveGroup): readonly LiveSpan[] {
  const due: LiveSpan[] = []
  // The run of the outermost span waits for all others. Otherwise, looking at each waiting run whenever a span ends would take too long.
  const asked = group.openCount === 0 ? [...group.waiting] : group.due
  group.due = []
  for (const agent of asked) {
    if (!group.waiting.has(agent)) continue
    if (agent.run?.hasOpenSpans !== true) due.push(agent)
    // It waits for other spans than those below it.
    else if (!agent.hasOpen) group.due.push(agent)
  }
  return due
}

/** Must be called when nothing below a span is open any more. It may be an agent whose run waited for that. */
export function markDue(span: LiveSpan): void {
  if (span.group.waiting.has(span)) span.group.due.push(span)
}

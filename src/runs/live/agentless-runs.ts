import type { RunPlan } from '../layout/run-layout.ts'
import { agentlessSource } from './agentless-source.ts'
import { LiveRun } from './live-run.ts'
import { LiveSpan } from './live-span.ts'
import type { LiveGroup } from './live-span.ts'
import { outermostOpen } from './local-span.ts'
import type { LocalSpan } from './local-span.ts'
import { Moment } from './moment.ts'
import { readForLayout } from './read-ahead.ts'
import type { SpanGroups } from './span-groups.ts'
import type { SpanLinks } from './span-links.ts'
import { StepQueue } from './step-queue.ts'
import { WaitingBelow } from './waiting-below.ts'
import { inParts, MAX_WAITING, waitingParts } from './waiting-parts.ts'
import type { WaitingPart } from './waiting-parts.ts'

/** The parts of the store that agentless runs need. */
export interface AgentlessParts {
  readonly groups: SpanGroups
  readonly links: Pick<SpanLinks, 'get'>
  /** Milliseconds to wait for another call of a run. */
  readonly settleMs: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly onSettled: (run: LiveRun) => void
  /** Whether a run to be settled was already recorded. */
  readonly isSecondRecord: (plan: RunPlan) => boolean
  readonly onDuplicate: () => void
  /** Whether further spans may assign a group to a run of another group. */
  readonly isHeld: (group: LiveGroup, moment: Moment<LiveSpan>) => boolean
  readonly close: (group: LiveGroup) => void
}

/** Maximum milliseconds of one turn of the event loop for settling runs. */
const SLICE_MS = 10

/** Minimum milliseconds between two layouts of groups that keep waiting, so that a `settleMs` of 0 does not keep the event loop busy. */
const MIN_LAYOUT_INTERVAL_MS = 10

/**
 * Model calls without an agent. More calls may follow: below an open span of this process while the outermost one is open; in traces of
 * their own until no more has arrived for a while, which is longer if requested tools may be running. Groups that wait by the clock are
 * laid out together, like spans from a file.
 *
 * None of this happens while a span is ending. `sweep` does what is due, in slices.
 */
export class AgentlessRuns {
  readonly #parts: AgentlessParts
  /** When the last span of each group ended. */
  readonly #waiting = new Map<LiveGroup, number>()
  /** When those ended that other groups may turn out to own, once these have ended. */
  readonly #held = new Map<LiveGroup, number>()
  /** Groups that wait for the end of a span around them. */
  readonly #below = new WaitingBelow()
  /** Groups whose surrounding span has ended, by trace. They are laid out together, because they may continue one another. */
  readonly #surrounded = new Map<string, LiveGroup[]>()
  /** Groups that were laid out, and whose runs are about to be settled. */
  readonly #settling = new Set<LiveGroup>()
  /** Remaining work: reading spans for a layout, settling runs, finishing groups. */
  readonly #due = new StepQueue()
  #nextLayoutMs = Number.POSITIVE_INFINITY

  constructor(parts: AgentlessParts) {
    this.#parts = parts
  }

  /** The next deadline, on the clock of `now`. */
  get nextMs(): number | undefined {
    if (this.#due.size + this.#surrounded.size > 0) return this.#parts.now()
    return this.#waiting.size + this.#held.size === 0 ? undefined : this.#nextLayoutMs
  }

  /** Called when all spans of a group have ended and none is an agent. */
  wait(group: LiveGroup): void {
    const { top } = group
    const around = outermostOpen(top && this.#parts.links.get(top.sdkSpan)?.above)
    if (around === undefined) {
      this.#waitByClock(group)
      return
    }
    this.#below.add(group, around)
  }

  /** Must be called when any span of this process has ended. Returns whether something became due. */
  spanEnded(span: LocalSpan): boolean {
    if (!span.isAwaited) return false
    const { traceId } = span.context
    const surrounded = this.#surrounded.get(traceId) ?? []
    for (const group of this.#below.take(span)) surrounded.push(group)
    this.#surrounded.set(traceId, surrounded)
    return true
  }

  /** Does what is due, for at most that many milliseconds. */
  sweep(maxMs: number = SLICE_MS): void {
    const endMs = this.#parts.now() + maxMs
    do {
      if (!this.#step()) return
    } while (this.#parts.now() < endMs)
  }

  /** Settles, in steps, groups that wait by the clock now. Those below an open span keep waiting. */
  *settleAll(): Generator<undefined, void> {
    if (this.#waiting.size + this.#held.size + this.#due.size + this.#surrounded.size === 0) return
    const state = { isDone: false }
    this.#due.add(() => {
      this.#release()
      for (const some of inParts([...this.#waiting.keys()])) {
        this.#due.add(() => this.#readFirst(some, () => this.#layOut(some)))
      }
      this.#due.add(() => {
        for (const traceId of this.#surrounded.keys()) this.#due.add(() => this.#layOutSurrounded(traceId))
        // By then, the remaining work of the last layout is in the queue.
        this.#due.add(() => this.#due.add(() => (state.isDone = true)))
      })
    })
    while (!state.isDone && this.#step()) yield
  }

  /** Settles all groups, in steps, whatever is open around them. */
  *giveUpWaiting(): Generator<undefined, void> {
    for (const group of this.#parts.groups) {
      if (isWaiting(group) && !this.#settling.has(group)) this.#waiting.set(group, 0)
    }
    yield* this.settleAll()
  }

  /** Must be called with a group that was closed or merged, or has an open span again, and waits no longer. */
  removed(group: LiveGroup): void {
    this.#below.delete(group)
    this.#settling.delete(group)
  }

  #waitByClock(group: LiveGroup): void {
    const { now, settleMs } = this.#parts
    const nowMs = now()
    // If it is already in the map, it moves to the end.
    this.#waiting.delete(group)
    if (group.isFlat) this.#held.set(group, nowMs)
    else this.#waiting.set(group, nowMs)
    this.#nextLayoutMs = Math.min(this.#nextLayoutMs, nowMs + settleMs)
    if (this.#waiting.size > MAX_WAITING) this.#nextLayoutMs = nowMs
  }

  /** Does one step of the remaining work; false if there is none. */
  #step(): boolean {
    const due = this.#due.take()
    if (due !== undefined) {
      due()
      return true
    }
    const [traceId] = this.#surrounded.keys()
    if (traceId !== undefined) {
      this.#layOutSurrounded(traceId)
      return true
    }
    if (this.#waiting.size + this.#held.size === 0 || this.#parts.now() < this.#nextLayoutMs) return false
    this.#nextLayoutMs = Number.POSITIVE_INFINITY
    this.#release()
    // Those that have waited longest. Those of one turn may be more.
    for (const some of inParts([...this.#waiting.keys(), ...this.#held.keys()].slice(0, MAX_WAITING))) {
      this.#due.add(() => this.#readFirst(some, () => this.#layOutWaiting(some)))
    }
    return true
  }

  /** Groups that no other one may own any more wait by the clock, like all others. */
  #release(): void {
    const moment = new Moment<LiveSpan>()
    for (const [group, endMs] of this.#held) {
      if (this.#parts.isHeld(group, moment)) continue
      this.#held.delete(group)
      if (isWaiting(group)) this.#waiting.set(group, endMs)
    }
  }

  /** Lays out the groups of a trace whose surrounding span has ended, unless open spans may continue them. */
  #layOutSurrounded(traceId: string): void {
    const surrounded = this.#surrounded.get(traceId) ?? []
    this.#surrounded.delete(traceId)
    const goesOn = this.#goesOn(traceId)
    const free: LiveGroup[] = []
    const moment = new Moment<LiveSpan>()
    for (const group of surrounded) {
      if (!goesOn && !this.#parts.isHeld(group, moment)) free.push(group)
      else if (isWaiting(group)) this.#waitByClock(group)
    }
    if (free.length > 0) this.#readFirst(free, () => this.#layOut(free))
  }

  /** Whether open spans of a trace may continue its agentless runs: a stream may be read after the span around it has ended. */
  #goesOn(traceId: string): boolean {
    return this.#parts.groups
      .ofTrace(traceId)
      .some(
        (group) =>
          !group.hasRun &&
          (group.openCount > 0 || this.#waiting.has(group) || this.#held.has(group) || this.#below.has(group)),
      )
  }

  /** Reads the spans one by one first, so that the layout itself is fast. */
  #readFirst(groups: readonly LiveGroup[], layOut: () => void): void {
    const unread = groups.flatMap((group) => (group.wanted ? [...group.spans].filter((span) => !span.isRead) : []))
    const steps = readForLayout(unread)
    const readOn = (): void => {
      // What waits in line comes later.
      this.#due.addFirst(steps.next().done === true ? layOut : readOn)
    }
    if (unread.length === 0) layOut()
    else this.#due.addFirst(readOn)
  }

  /** Settles those of the groups that have waited long enough by the clock, with all other groups of their runs. */
  #layOutWaiting(groups: readonly LiveGroup[]): void {
    const { now, settleMs } = this.#parts
    const nowMs = now()
    const isFull = this.#waiting.size > MAX_WAITING
    this.drop([...this.#waiting.keys(), ...this.#held.keys()].filter((group) => !isWaiting(group)))
    let nextMs = isFull ? nowMs : this.#held.size > 0 ? nowMs + settleMs : Number.POSITIVE_INFINITY
    let left = this.#waiting.size
    for (const part of waitingParts(this.#sinceWhen(groups), settleMs)) {
      const held = part.groups.filter((group) => this.#held.has(group)).length
      const waiting = part.groups.length - held
      if ((part.dueMs > nowMs || held > 0) && !(waiting > 0 && isFull && left > MAX_WAITING / 2)) {
        if (held === 0) nextMs = Math.min(nextMs, part.dueMs)
        continue
      }
      left -= waiting
      this.#settle(part)
    }
    this.#nextLayoutMs = Math.min(
      this.#nextLayoutMs,
      Math.max(nextMs, nowMs + Math.max(settleMs / 4, MIN_LAYOUT_INTERVAL_MS)),
    )
  }

  /** Those of the groups that still wait, and since when. */
  #sinceWhen(groups: readonly LiveGroup[]): ReadonlyMap<LiveGroup, number> {
    const since = new Map<LiveGroup, number>()
    for (const group of groups) {
      const endMs = this.#waiting.get(group) ?? this.#held.get(group)
      if (endMs !== undefined) since.set(group, endMs)
    }
    return since
  }

  #layOut(groups: readonly LiveGroup[]): void {
    const left = groups.filter((group) => isWaiting(group) && !this.#settling.has(group))
    const waiting = new Map(left.map((group) => [group, 0]))
    for (const part of waitingParts(waiting, 0)) this.#settle(part)
    this.drop(groups)
  }

  #settle({ groups, plans }: WaitingPart): void {
    const spans = groups.flatMap((group) => [...group.spans])
    const wanted = groups.some((group) => group.wanted)
    if (wanted) for (const plan of plans) this.#due.add(() => this.#settleRun(spans, plan))
    else this.#due.add(() => this.#settleRun(spans, undefined))
    for (const group of groups) this.#settling.add(group)
    this.#due.add(() => {
      for (const group of groups) if (this.#settling.delete(group) && !group.closed) this.#parts.close(group)
    })
    this.drop(groups)
  }

  /** Drops groups that wait by the clock. */
  drop(groups: readonly LiveGroup[]): void {
    for (const group of groups) {
      this.#waiting.delete(group)
      this.#held.delete(group)
    }
  }

  #settleRun(spans: readonly LiveSpan[], plan: RunPlan | undefined): void {
    const span = plan === undefined ? spans.at(-1) : lastCall(plan)
    if (!(span instanceof LiveSpan)) return
    if (plan !== undefined && this.#parts.isSecondRecord(plan)) {
      this.#parts.onDuplicate()
      return
    }
    const { traceId, wanted } = span.group
    const run = new LiveRun(
      { span: span.sdkSpan, traceId, kind: 'agentless', wanted },
      agentlessSource(span.group, plan),
    )
    run.freeze()
    this.#parts.onSettled(run)
  }
}

function isWaiting(group: LiveGroup): boolean {
  return group.openCount === 0 && !group.hasRun && !group.closed
}

/** The span of the last model call, which receives the score of an agentless run. */
function lastCall({ models, root }: RunPlan): RunPlan['root'] {
  return models.at(-1) ?? root
}

import type { RunPlan } from '../layout/run-layout.ts'
import { LiveRun } from './live-run.ts'
import type { LiveRunSource } from './live-run.ts'
import { LiveSpan } from './live-span.ts'
import type { LiveGroup } from './live-span.ts'
import { outermostOpen } from './local-span.ts'
import type { LocalSpan } from './local-span.ts'
import { ReadAhead, readWhole } from './read-ahead.ts'
import type { SpanGroups } from './span-groups.ts'
import type { SpanLinks } from './span-links.ts'
import { WaitingBelow } from './waiting-below.ts'
import { waitingParts } from './waiting-parts.ts'
import type { WaitingPart } from './waiting-parts.ts'

/** The parts of the store that runs without an agent need. */
export interface AgentlessParts {
  readonly groups: SpanGroups
  readonly links: Pick<SpanLinks, 'get'>
  /** Milliseconds that a further call of a run is waited for. */
  readonly settleMs: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly onSettled: (run: LiveRun) => void
  /** Whether a run that is to be settled was recorded before. */
  readonly isSecondRecord: (plan: RunPlan) => boolean
  readonly onDuplicate: () => void
  /** Whether further spans may say that a group belongs to a run of another one. */
  readonly isHeld: (group: LiveGroup) => boolean
  readonly close: (group: LiveGroup) => void
}

/** Milliseconds that settling may take of one turn of the event loop. */
const SLICE_MS = 10

/** Groups that wait by the clock: they are laid out together, again and again. */
const MAX_WAITING = 2000

/**
 * Model calls with no agent above them. They may go on: below an open span of this process as long as the outermost one is
 * open; in traces of their own until nothing that continues them has come for a while, which is longer for calls whose
 * tools are at work. What waits by the clock is laid out together, as it would be from a file.
 *
 * Nothing of it happens while a span is ending: what is due is done by `sweep`, slice by slice.
 */
export class AgentlessRuns {
  readonly #parts: AgentlessParts
  /** By group, when its last span ended. */
  readonly #waiting = new Map<LiveGroup, number>()
  /** Groups that wait for the end of the span around them. */
  readonly #below = new WaitingBelow()
  /** By trace, groups whose surrounding span has ended, to be laid out: those of one trace may go on with one another. */
  readonly #surrounded = new Map<string, LiveGroup[]>()
  /** Groups that were laid out, and whose runs are in line to be settled. */
  readonly #settling = new Set<LiveGroup>()
  /** What is left to be done: for each span that a layout will ask, for each run that is settled, for each group that is over. */
  readonly #due: (() => void)[] = []
  #nextLayoutMs = Number.POSITIVE_INFINITY

  constructor(parts: AgentlessParts) {
    this.#parts = parts
  }

  /** When something is next due, on the clock of `now`. */
  get nextMs(): number | undefined {
    if (this.#due.length + this.#surrounded.size > 0) return this.#parts.now()
    return this.#waiting.size === 0 ? undefined : this.#nextLayoutMs
  }

  /** All spans of a group have ended, and none of them is an agent. */
  wait(group: LiveGroup): void {
    const [root] = group.spans
    const around = outermostOpen(root && this.#parts.links.get(root.sdkSpan)?.above)
    if (around === undefined) {
      this.#waitByClock(group)
      return
    }
    this.#below.add(group, around)
  }

  /** To be called when any span of this process has ended. Whether something became due with it. */
  spanEnded(span: LocalSpan): boolean {
    if (!span.isAwaited) return false
    const { traceId } = span.context
    const surrounded = this.#surrounded.get(traceId) ?? []
    for (const group of this.#below.take(span)) surrounded.push(group)
    this.#surrounded.set(traceId, surrounded)
    return true
  }

  /** Does what is due, for so long at most. */
  sweep(maxMs: number = SLICE_MS): void {
    const endMs = this.#parts.now() + maxMs
    do {
      if (!this.#step()) return
    } while (this.#parts.now() < endMs)
  }

  /** Ends, in steps, those that wait by the clock at this moment; those below an open span go on waiting. */
  *settleAll(): Generator<undefined, void> {
    if (this.#waiting.size + this.#due.length + this.#surrounded.size === 0) return
    const state = { isDone: false }
    this.#due.push(() => {
      const groups = [...this.#waiting.keys()]
      this.#readFirst(groups, () => {
        this.#layOut(groups)
        for (const traceId of this.#surrounded.keys()) this.#due.push(() => this.#layOutSurrounded(traceId))
        // What the last layout has left to be done is in line by then.
        this.#due.push(() => this.#due.push(() => (state.isDone = true)))
      })
    })
    while (!state.isDone && this.#step()) yield
  }

  /** Ends, in steps, all of them, whatever is open around them. */
  *giveUpWaiting(): Generator<undefined, void> {
    for (const group of this.#parts.groups) {
      if (isWaiting(group) && !this.#settling.has(group)) this.#waiting.set(group, 0)
    }
    yield* this.settleAll()
  }

  /** To be called with a group that is closed, or has become part of another one: it waits for no span. */
  removed(group: LiveGroup): void {
    this.#below.delete(group)
  }

  #waitByClock(group: LiveGroup): void {
    const { now, settleMs } = this.#parts
    const nowMs = now()
    // To the end of the line, where it is there already.
    this.#waiting.delete(group)
    this.#waiting.set(group, nowMs)
    this.#nextLayoutMs = Math.min(this.#nextLayoutMs, nowMs + settleMs)
    if (this.#waiting.size > MAX_WAITING) this.#nextLayoutMs = nowMs
  }

  /** One step of what is to be done; false where nothing is. */
  #step(): boolean {
    const due = this.#due.shift()
    if (due !== undefined) {
      due()
      return true
    }
    const [traceId] = this.#surrounded.keys()
    if (traceId !== undefined) {
      this.#layOutSurrounded(traceId)
      return true
    }
    if (this.#waiting.size === 0 || this.#parts.now() < this.#nextLayoutMs) return false
    this.#nextLayoutMs = Number.POSITIVE_INFINITY
    this.#readFirst([...this.#waiting.keys()], () => this.#layOutWaiting())
    return true
  }

  /** Lays out the groups of a trace whose surrounding span has ended, unless something may go on with them. */
  #layOutSurrounded(traceId: string): void {
    const surrounded = this.#surrounded.get(traceId) ?? []
    this.#surrounded.delete(traceId)
    const goesOn = this.#goesOn(traceId)
    const free: LiveGroup[] = []
    for (const group of surrounded) {
      if (!goesOn && !this.#parts.isHeld(group)) free.push(group)
      else if (isWaiting(group)) this.#waitByClock(group)
    }
    if (free.length > 0) this.#readFirst(free, () => this.#layOut(free))
  }

  /** Whether spans of a trace that are open may go on with its agentless runs: a stream may be read after the span around it has ended. */
  #goesOn(traceId: string): boolean {
    return this.#parts.groups
      .ofTrace(traceId)
      .some((group) => !group.hasRun && (group.openCount > 0 || this.#waiting.has(group) || this.#below.has(group)))
  }

  /** Reads what a layout asks for span by span, so that the layout itself takes no longer than it must. */
  #readFirst(groups: readonly LiveGroup[], layOut: () => void): void {
    const unread = groups.flatMap((group) => (group.wanted ? group.spans.filter((span) => !span.isRead) : []))
    const readOn = (): void => {
      const span = unread.pop()
      if (span !== undefined) read(span)
      // What is in line already waits, so that one thing is done after the other.
      this.#due.unshift(unread.length > 0 ? readOn : layOut)
    }
    if (unread.length <= 1) layOut()
    else this.#due.unshift(readOn)
  }

  /** Settles the groups that wait by the clock and have waited long enough, with all that belongs to their runs. */
  #layOutWaiting(): void {
    const { now, settleMs } = this.#parts
    const nowMs = now()
    const isFull = this.#waiting.size > MAX_WAITING
    this.drop([...this.#waiting.keys()].filter((group) => !isWaiting(group)))
    let nextMs = Number.POSITIVE_INFINITY
    let left = this.#waiting.size
    for (const part of waitingParts(this.#waiting, settleMs)) {
      const isHeld = part.groups.some((group) => this.#parts.isHeld(group))
      if ((part.dueMs > nowMs || isHeld) && !(isFull && left > MAX_WAITING / 2)) {
        nextMs = Math.min(nextMs, isHeld ? nowMs + settleMs : part.dueMs)
        continue
      }
      left -= part.groups.length
      this.#settle(part)
    }
    this.#nextLayoutMs = Math.min(this.#nextLayoutMs, Math.max(nextMs, nowMs + settleMs / 4))
  }

  #layOut(groups: readonly LiveGroup[]): void {
    const left = groups.filter((group) => isWaiting(group) && !this.#settling.has(group))
    const waiting = new Map(left.map((group) => [group, 0]))
    for (const part of waitingParts(waiting, 0)) this.#settle(part)
    this.drop(groups)
  }

  #settle({ groups, plans }: WaitingPart): void {
    const spans = groups.flatMap((group) => group.spans)
    const wanted = groups.some((group) => group.wanted)
    if (wanted) for (const plan of plans) this.#due.push(() => this.#settleRun(spans, plan))
    else this.#due.push(() => this.#settleRun(spans, undefined))
    for (const group of groups) this.#settling.add(group)
    this.#due.push(() => {
      for (const group of groups) {
        this.#settling.delete(group)
        if (!group.closed) this.#parts.close(group)
      }
    })
    this.drop(groups)
  }

  /** Lets go of groups that wait by the clock. */
  drop(groups: readonly LiveGroup[]): void {
    for (const group of groups) this.#waiting.delete(group)
  }

  #settleRun(spans: readonly LiveSpan[], plan: RunPlan | undefined): void {
    const span = plan === undefined ? spans.at(-1) : lastCall(plan)
    if (!(span instanceof LiveSpan)) return
    if (plan !== undefined && this.#parts.isSecondRecord(plan)) {
      this.#parts.onDuplicate()
      return
    }
    const { traceId, wanted } = span.group
    const run = new LiveRun({ span: span.sdkSpan, traceId, kind: 'agentless', wanted }, sourceOf(span.group, plan))
    run.freeze()
    this.#parts.onSettled(run)
  }
}

/** A run that is laid out already. Its calls may be in several groups. */
function sourceOf(group: LiveGroup, plan: RunPlan | undefined): LiveRunSource {
  const planned = plan === undefined ? group.spans : [...plan.models, ...plan.tools]
  const spans = planned.filter((span) => span instanceof LiveSpan)
  const ahead = new ReadAhead(spans)
  return {
    version: 0,
    spanCount: spans.length,
    contentBytes: spans.reduce((sum, span) => sum + span.contentBytes, 0),
    hasOpenSpans: false,
    plan: () => plan,
    freeze: () => undefined,
    readAhead: (isTimeUp) => ahead.readOn(isTimeUp),
  }
}

function isWaiting(group: LiveGroup): boolean {
  return group.openCount === 0 && !group.hasRun && !group.closed
}

/** A span that holds more is read whole before its run is put together. */
const LARGE_BYTES = 16 * 1024

/** Asks a span what the layout will ask it, and a large one what the run will ask it. */
function read(span: LiveSpan): void {
  span.isRead = true
  span.sortLogs()
  if (span.contentBytes > LARGE_BYTES) readWhole(span)
  if (span.role !== 'model') return
  void span.input
  void span.toolCalls
}

/** The span of the last model call, to which the score of a run without an agent belongs. */
function lastCall({ models, root }: RunPlan): RunPlan['root'] {
  return models.at(-1) ?? root
}

import type { Dialect } from '../../spans/dialect.ts'
import { toSourceSpan } from '../../spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { saysItsKind } from '../../spans/recognition-hints.ts'
import { recognise, roleOf } from '../../spans/recognise.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import { addBelow } from '../layout/assign-spans.ts'
import { aboveChildrenOf, aboveChildrenOfOpen, OUTSIDE, placementOf } from '../placement.ts'
import type { Above, Placement } from '../placement.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { isFlat, TraceSpan } from '../trace-span.ts'
import type { LiveRun } from './live-run.ts'
import type { SpanGroup } from './span-group.ts'

/** A group of spans of this process. */
export type LiveGroup = SpanGroup<LiveSpan>

/** What is above a span in this process, besides recognised spans. */
export interface WayUp {
  /** The id of the last span on the way up that is known or named; empty where there is none. */
  readonly topId: string
  /** Whether that span is named and never started here, though it is of this process. */
  readonly isLost: boolean
}

/** A recognised span of this process, from its start until its run is closed. */
export class LiveSpan extends TraceSpan {
  readonly sdkSpan: SdkSpanLike
  readonly wayUp: WayUp
  group: LiveGroup
  /** The nearest recognised span above it in this process. */
  above: LiveSpan | undefined
  /** Recognised spans whose nearest recognised span above is this one, as far as they are kept. */
  spansBelow: Set<LiveSpan> | undefined
  /** How many spans directly below it are open, or have something open below. */
  openBelow = 0
  /** How large is what is below it, of what has ended with all that is below. */
  readonly subtree: { size: number; contentBytes: number } = { size: 1, contentBytes: 0 }
  /** Whether it was known at its start what it is. */
  readonly saidItsKind: boolean
  /** Whether the group keeps it: false over the limit. */
  isKept = false
  /** Bytes of content, once it has ended. */
  contentBytes = 0
  /** Bytes that it holds, estimated. */
  heldBytes = 0
  /** Whether what a layout asks for has been read. */
  isRead = false
  /** Where its run is over, all runs that it and the spans below it make up, by the id of their agent's span. */
  plans: ReadonlyMap<string, RunPlan> | undefined
  /** A group in which further spans of its run may be. */
  otherGroup: LiveGroup | undefined
  /** The run that this span is the agent of, once it has ended. */
  run: LiveRun | undefined
  /** What is below it, of what has said so by now. */
  readonly below: { hasWork: boolean; hasAgents: boolean } = { hasWork: false, hasAgents: false }
  #aboveChildren: Above | undefined
  #newLogs: SourceLog[] | undefined

  constructor(
    sdkSpan: SdkSpanLike,
    dialect: Dialect,
    wayUp: WayUp,
    above: LiveSpan | undefined,
    group: LiveGroup,
    startOrder: number,
  ) {
    const span = toSourceSpan(sdkSpan, startOrder)
    super(span, dialect, roleOf(dialect, span))
    this.sdkSpan = sdkSpan
    this.wayUp = wayUp
    this.above = above
    this.group = group
    this.isOpen = true
    this.saidItsKind = saysItsKind(dialect, span)
  }

  /** Whether its run is closed: spans that start below, or end, are late. */
  get closed(): boolean {
    return this.group.closed
  }

  /** Whether it says by now what it is; many say it only when they end. */
  get saysItsKind(): boolean {
    return this.saidItsKind || saysItsKind(this.dialect, this.span)
  }

  get isFlat(): boolean {
    return isFlat(this)
  }

  /** Whether it or anything below it is open. */
  get hasOpen(): boolean {
    return this.isOpen || this.openBelow > 0
  }

  /** Whether it is below a span, or is it. */
  isWithin(other: LiveSpan): boolean {
    if (this === other) return true
    let { above } = this
    while (above !== undefined && above !== other) above = above.above
    return above !== undefined
  }

  /** It and all spans below it that are kept, and had started by then, parents first. */
  withAllBelow(startedByOrder: number = Number.POSITIVE_INFINITY): LiveSpan[] {
    const found: LiveSpan[] = []
    const waiting: LiveSpan[] = [this]
    for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
      if ((span.span.startOrder ?? 0) > startedByOrder) continue
      found.push(span)
      if (span.spansBelow !== undefined) waiting.push(...span.spansBelow)
    }
    return found
  }

  /** Notes that it has begun below `above`, and what it is, where it says so. */
  enter(): void {
    const { above } = this
    if (above === undefined) return
    if (this.isKept) (above.spansBelow ??= new Set()).add(this)
    above.openBelow += 1
    tellUpwards(this)
  }

  /** To be called when it has ended: says so to what is above, as far up as nothing else is open. */
  leave(): void {
    leaveUpwards(this)
  }

  /** To be called when it has ended: says what it is to what is above, as far up as that is known, and new. */
  tellAbove(): void {
    tellUpwards(this)
  }

  /** To be called when it is let go of, and what is above it is not. */
  leaveAbove(): void {
    const { above } = this
    if (above === undefined) return
    above.spansBelow?.delete(this)
    const forgotten = { hasWork: false, hasAgents: false, ...above.forgottenBelow }
    addBelow(forgotten, this, this.below)
    above.forgottenBelow = forgotten
  }

  /** To be called when it is recognised only at its end: a span that was taken to be below `above` is below it. */
  takeOver(span: LiveSpan): void {
    const before = span.above
    if (before !== undefined) {
      before.spansBelow?.delete(span)
      if (span.hasOpen) before.openBelow -= 1
      else {
        before.subtree.size -= span.subtree.size
        before.subtree.contentBytes -= span.subtree.contentBytes
      }
    }
    span.above = this
    this.spansBelow ??= new Set()
    this.spansBelow.add(span)
    if (span.hasOpen) this.openBelow += 1
    else {
      this.subtree.size += span.subtree.size
      this.subtree.contentBytes += span.subtree.contentBytes
    }
    addBelow(this.below, span, span.below)
  }

  /** To be called when it is ending: from now on it is what it is. */
  end(): void {
    this.isOpen = false
    // Some spans can be distinguished only by what is written on them at their end.
    if (!this.saidItsKind) this.#recogniseAgain()
    this.role = roleOf(this.dialect, this.span)
    this.forget()
  }

  /** To be called before an open span is asked: it says what is written on it by now. */
  lookAgain(): void {
    if (!this.isOpen || this.saidItsKind) return
    this.#recogniseAgain()
    this.role = roleOf(this.dialect, this.span)
    this.forget()
  }

  /** @returns How many log records it has by now. */
  addLog(log: SourceLog): number {
    this.#newLogs ??= []
    return this.logs.length + this.#newLogs.push(log)
  }

  /** To be called before it is asked for what log records hold: they may have come in any order. */
  sortLogs(): void {
    if (this.#newLogs === undefined) return
    this.takeLogs([...this.logs, ...this.#newLogs].toSorted((left, right) => left.timeMs - right.timeMs))
    this.#newLogs = undefined
  }

  /** Whether an agent's run is around it. */
  get isInRun(): boolean {
    return this.#placeAbove().isInRun
  }

  /** What it is to the runs around it, as far as they are known by now. */
  get placement(): Placement {
    const placement = placementOf(this, this.#placeAbove(), this.below)
    // An entry is the agent where no agent is below it: that is known when all that is open there has said what it is.
    const mayHaveAgents = this.role === 'entry' && placement !== 'part' && this.openBelow > 0
    return mayHaveAgents && this.withAllBelow().some((span) => span.isOpen && !span.saysItsKind) ? 'not-yet' : placement
  }

  /** What is above it: of what is open, as far as it says. */
  #placeAbove(): Above {
    const path: LiveSpan[] = []
    let span = this.above
    while (span !== undefined && span.#aboveChildren === undefined) {
      path.push(span)
      span = span.above
    }
    let above = span === undefined ? OUTSIDE : (span.#aboveChildren ?? OUTSIDE)
    let isFinal = true
    for (const around of path.toReversed()) {
      around.lookAgain()
      isFinal &&= around.saidItsKind && around.role !== 'entry'
      above = around.isOpen
        ? aboveChildrenOfOpen(around, above)
        : aboveChildrenOf(around, above, placementOf(around, above, around.below))
      if (isFinal) around.#aboveChildren = above
    }
    return above
  }

  #recogniseAgain(): void {
    const { scope, attributes, name } = this.span
    this.dialect = recognise(scope.name, attributes, name) ?? this.dialect
  }
}

function leaveUpwards(ended: LiveSpan): void {
  let span = ended
  while (!span.hasOpen && span.above !== undefined) {
    const { above } = span
    above.openBelow -= 1
    above.subtree.size += span.subtree.size
    above.subtree.contentBytes += span.subtree.contentBytes
    span = above
  }
}

function tellUpwards(ended: LiveSpan): void {
  let span = ended
  while (span.above !== undefined && (!span.isOpen || span.saidItsKind)) {
    const { below } = span.above
    const { hasWork, hasAgents } = below
    addBelow(below, span, span.below)
    if (hasWork === below.hasWork && hasAgents === below.hasAgents) return
    span = span.above
  }
}

import type { Dialect } from '../../spans/dialect.ts'
import { SdkSourceSpan } from '../../spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { saysItsKind } from '../../spans/recognition-hints.ts'
import { recognise, roleOf } from '../../spans/recognise.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import { addBelow } from '../layout/assign-spans.ts'
import { mayBeNested } from '../layout/lost-parents.ts'
import {
  aboveAmbiguous,
  aboveChildrenOf,
  aboveChildrenOfOpen,
  mayStartRun,
  OUTSIDE,
  placementOf,
} from '../placement.ts'
import type { Above, Placement } from '../placement.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { isFlat, TraceSpan } from '../trace-span.ts'
import { takeSpan } from './content-bytes.ts'
import type { Size } from './content-bytes.ts'
import type { LiveRun } from './live-run.ts'
import type { Moment } from './moment.ts'
import type { SpanGroup } from './span-group.ts'
import { tellUpwards } from './upwards.ts'

/** A group of spans of this process. */
export type LiveGroup = SpanGroup<LiveSpan>

/** The ancestors of a span in this process, besides recognised ones. */
export interface WayUp {
  /** The id of the topmost known or named ancestor; empty if there is none. */
  readonly topId: string
  /** Whether that ancestor is only named and never started here, although it belongs to this process. */
  readonly isLost: boolean
  /** Whether any of several active runs could own it. */
  readonly isAmbiguous: boolean
}

/** More than any program nests. */
const MAX_DEPTH = 128

/** A recognised span of this process, from its start until its run is closed. */
export class LiveSpan extends TraceSpan {
  override readonly isPlacedByLayout = false
  readonly sdkSpan: SdkSpanLike
  readonly wayUp: WayUp
  group: LiveGroup
  /** Its nearest recognised ancestor in this process; one further up if there are too many. */
  above: LiveSpan | undefined
  /** How many recognised ancestors it had at its start. */
  depth = 0
  /** The kept recognised spans whose nearest recognised ancestor is this span. */
  spansBelow: Set<LiveSpan> | undefined
  /** The recognised spans that get the same parent, itself included, if a span between it and `above` is recognised later. */
  sameParent: Set<LiveSpan> | undefined
  /** How many spans directly below it are open, or have something open below them. */
  openBelow = 0
  /** The size of everything below it, as far as whole branches have ended. */
  readonly subtree: { size: number; contentBytes: number } = { size: 1, contentBytes: 0 }
  /** Whether its kind was known at its start. */
  readonly saidItsKind: boolean
  /** Whether its group keeps it; false above the limit. */
  isKept = false
  /** Bytes of content, once it has ended. */
  contentBytes = 0
  /** Estimated bytes in memory, with log records; `ownBytes` are those of the SDK's span. */
  heldBytes = 0
  ownBytes = 0
  /** The log records with which its content was read, once it had ended. */
  readWith: readonly SourceLog[] | undefined
  /** Whether the facts that a layout needs were read. */
  isRead = false
  /** Once its run has ended: all runs formed by this span and those below it, by the id of their agent's span. */
  plans: ReadonlyMap<string, RunPlan> | undefined
  /** Another group that may have spans of its run. */
  otherGroup: LiveGroup | undefined
  /** While it is open: ended agents below it whose place depends on what it turns out to be, by how they depend on it. */
  undecided: Map<number, LiveSpan[]> | undefined
  /** The run whose agent this span is, once it has ended. */
  run: LiveRun | undefined
  /** What is below it, as far as known. */
  readonly below: { hasWork: boolean; hasAgents: boolean } = { hasWork: false, hasAgents: false }
  readonly #source: SdkSourceSpan
  /** The latest layout that it is in. */
  layout: object | undefined
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
    const span = new SdkSourceSpan(sdkSpan, startOrder)
    super(span, dialect, roleOf(dialect, span))
    this.#source = span
    this.sdkSpan = sdkSpan
    this.wayUp = wayUp
    this.putBelow(above)
    this.group = group
    this.isOpen = true
    this.saidItsKind = saysItsKind(dialect, span)
  }

  /** Must be called before its start is registered. Very deep spans become siblings, because many things are looked up in ancestors. */
  putBelow(above: LiveSpan | undefined): void {
    this.above = above !== undefined && above.depth >= MAX_DEPTH ? above.above : above
    this.depth = this.above === undefined ? 0 : this.above.depth + 1
  }

  /** Whether its run is closed. Spans that start below it, or end, are then late. */
  get closed(): boolean {
    return this.group.closed
  }

  /** Whether a parent was lost between it and its nearest recognised ancestor, which was found by its start time. */
  get isBelowLost(): boolean {
    return this.above !== undefined && this.wayUp.isLost && this.wayUp.topId !== this.above.wayUp.topId
  }

  /** Whether its kind is known by now. Many spans only reveal it when they end. */
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

  /** This span and all kept spans below it that had started by then, parents first. */
  withAllBelow(startedByOrder: number = Number.POSITIVE_INFINITY): LiveSpan[] {
    const found: LiveSpan[] = []
    const waiting: LiveSpan[] = [this]
    for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
      if ((span.span.startOrder ?? 0) > startedByOrder) continue
      found.push(span)
      span.spansBelow?.forEach((below) => waiting.push(below))
    }
    return found
  }

  /** Registers its start below `above`, and its kind if known. */
  enter(): void {
    const { above } = this
    if (above === undefined) return
    if (this.isKept) (above.spansBelow ??= new Set()).add(this)
    above.openBelow += 1
    tellUpwards(this)
  }

  /** Must be called when it is dropped and its parent is not. */
  leaveAbove(): void {
    const { above } = this
    if (above === undefined) return
    above.spansBelow?.delete(this)
    const forgotten = { hasWork: false, hasAgents: false, ...above.forgottenBelow }
    addBelow(forgotten, this, this.below)
    above.forgottenBelow = forgotten
  }

  /** Must be called when it is only recognised at its end. A span that was below `above` is now below it. */
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

  /**
   * Must be called when it is ending. Its facts are final from now on: they are read from values that have an end, and that nobody else can
   * change. Returns its size.
   */
  end(): Size {
    this.isOpen = false
    const taken = takeSpan(this.sdkSpan)
    this.#source.replace(taken)
    // The kind of some spans depends on attributes that are written at their end.
    if (!this.saidItsKind) this.#recogniseAgain()
    this.role = roleOf(this.dialect, this.span)
    this.forget()
    return taken
  }

  /** Must be called before reading an open span, to include the attributes written so far. */
  lookAgain(): void {
    if (!this.isOpen || this.saidItsKind) return
    this.#recogniseAgain()
    this.role = roleOf(this.dialect, this.span)
    this.forget()
  }

  /** @returns the number of its log records so far */
  addLog(log: SourceLog): number {
    this.#newLogs ??= []
    return this.logs.length + this.#newLogs.push(log)
  }

  /** Must be called before reading content of log records, which may arrive in any order. */
  sortLogs(): void {
    if (this.#newLogs === undefined) return
    this.takeLogs([...this.logs, ...this.#newLogs].toSorted((left, right) => left.timeMs - right.timeMs))
    this.#newLogs = undefined
  }

  /** Whether it is inside an agent's run. */
  get isInRun(): boolean {
    return this.#placeAbove().isInRun
  }

  /** Whether its placement depends on open ancestors that may turn out to be agents. */
  dependsOnAbove(moment?: Moment<LiveSpan>): boolean {
    return placementOf(this, this.#placeAbove(moment), this.below) === 'not-yet'
  }

  /** Its placement in the runs around it, as far as they are known. */
  placement(moment?: Moment<LiveSpan>): Placement {
    // Most entries have nothing below them that makes them an agent, wherever they are.
    if (!mayStartRun(this, this.below)) return 'part'
    const placement = placementOf(this, this.#placeAbove(moment), this.below)
    // An entry is the agent if no agent is below it. That is known once all open spans below have revealed their kind.
    const mayHaveAgents = this.role === 'entry' && placement !== 'part' && this.openBelow > 0
    return mayHaveAgents && this.withAllBelow().some((span) => span.isOpen && !span.saysItsKind) ? 'not-yet' : placement
  }

  /** Its ancestors; open ones as far as their kind is known. */
  #placeAbove(moment?: Moment<LiveSpan>): Above {
    const final = this.above === undefined ? OUTSIDE : this.above.#aboveChildren
    if (final !== undefined) return this.#seenFrom(final)
    const path: LiveSpan[] = []
    let span = this.above
    while (span !== undefined && span.#aboveChildren === undefined && moment?.above.has(span) !== true) {
      path.push(span)
      span = span.above
    }
    let above = span === undefined ? OUTSIDE : (span.#aboveChildren ?? moment?.above.get(span) ?? OUTSIDE)
    let isFinal = span === undefined || span.#aboveChildren !== undefined
    for (const around of path.toReversed()) {
      around.lookAgain()
      above = around.#seenFrom(above)
      // An entry with an agent below it never becomes one.
      const mayStillChange = around.role === 'entry' && (!around.below.hasAgents || around.holdsOneRun)
      isFinal &&= (around.saidItsKind || !around.isOpen) && !mayStillChange
      above = around.isOpen
        ? aboveChildrenOfOpen(around, above)
        : aboveChildrenOf(around, above, placementOf(around, above, around.below))
      if (isFinal) around.#aboveChildren = above
      else moment?.above.set(around, above)
    }
    return this.#seenFrom(above)
  }

  /** Its ancestors, as far as a lost parent lets them be known. */
  #seenFrom(above: Above): Above {
    if (!this.isBelowLost) return above
    if (!mayBeNested(this)) return OUTSIDE
    return this.wayUp.isAmbiguous ? aboveAmbiguous(above) : above
  }

  #recogniseAgain(): void {
    const { scope, attributes, name } = this.span
    this.dialect = recognise(scope.name, attributes, name) ?? this.dialect
  }
}

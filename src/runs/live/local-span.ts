import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { LiveSpan, WayUp } from './live-span.ts'

/** The ids of a span. */
export interface SpanIds {
  readonly traceId: string
  readonly spanId: string
}

/**
 * The record of any span that starts in this process, recognised or not: its identity and its ancestors. It does not reference the SDK's
 * span, so that children and look-ups do not keep that in memory.
 */
export class LocalSpan implements WayUp {
  readonly context: SpanIds
  /** Its parent in this process; `undefined` for an outermost span. */
  above: LocalSpan | undefined
  /** Whether it is open, by the order of the hooks. */
  open: boolean
  /** Set if a dialect recognises it, at its start or by attributes written since. */
  recognised: LiveSpan | undefined = undefined
  /** Whether it was recognised and its run is closed. */
  isOver = false
  /** Whether agentless groups that began below it wait for its end. */
  isAwaited = false
  /** While it is open and not recognised: the recognised spans that are below it if it is recognised later. */
  recognisedBelow: Set<LiveSpan> | undefined = undefined
  /** Its start order while it may still be recognised; otherwise 0. */
  askAgain = 0
  /** The next ancestor that matters, as `SpanLinks` found it last, and the change count at that time. */
  nearest: LocalSpan | undefined = undefined
  nearestAfter = 0
  /** An open span above it that `outermostOpen` found last. */
  outermost: LocalSpan | undefined = undefined
  /** Its position in `RecentSpans`. */
  position = 0
  /** The position of its topmost known ancestor; 0 if it has none. */
  readonly topPosition: number
  /** The id of the topmost known or named ancestor; empty if there is none. */
  readonly topId: string
  /** Whether that ancestor is only named and never started here, although it belongs to this process. */
  readonly isLost: boolean
  /** Whether any of several active runs could own it. */
  isAmbiguous: boolean

  constructor(
    context: SpanIds,
    above: LocalSpan | undefined,
    topId: string,
    topPosition: number,
    isLost: boolean,
    open: boolean,
    isAmbiguous = false,
  ) {
    this.context = context
    this.above = above
    this.topId = topId
    this.topPosition = topPosition
    this.isLost = isLost
    this.open = open
    this.isAmbiguous = isAmbiguous
  }

  /**
   * Makes the record of a span that is named as a parent but never started here.
   *
   * @param above The agent or tool that it belongs to, if that is known.
   */
  static lost(context: SpanIds, above: LocalSpan | undefined, isAmbiguous: boolean): LocalSpan {
    return new LocalSpan(context, above, context.spanId, 0, true, false, isAmbiguous)
  }

  /** Creates the record of a span that starts. `parent` is its parent in this process, ended or not. */
  static startedBelow(span: SdkSpanLike, parent: LocalSpan | undefined): LocalSpan {
    const context = span.spanContext()
    if (parent === undefined) {
      const topId = span.parentSpanContext?.spanId ?? span.parentSpanId ?? ''
      const isLost = topId !== '' && span.parentSpanContext?.isRemote !== true
      return new LocalSpan(context, undefined, topId, 0, isLost, true)
    }
    const topId = parent.topId === '' ? parent.context.spanId : parent.topId
    const topPosition = parent.topPosition === 0 ? parent.position : parent.topPosition
    const above = isPassed(parent) ? parent.above : parent
    return new LocalSpan(context, above, topId, topPosition, parent.isLost, true, parent.isAmbiguous)
  }

  /** Must be called when a kept span is recognised whose record this is. An open span above it may be recognised later. */
  awaitRecognitionAbove(live: LiveSpan): void {
    const above = this.#nextUnrecognised()
    if (above === undefined) return
    above.recognisedBelow ??= new Set()
    live.sameParent = above.recognisedBelow.add(live)
  }

  /** Must be called when it has ended unrecognised. What is below it may still get the next open span as its parent. */
  passOn(below: Set<LiveSpan>): void {
    this.recognisedBelow = undefined
    const above = this.#nextUnrecognised()
    if (above === undefined) {
      for (const span of below) span.sameParent = undefined
      return
    }
    const others = above.recognisedBelow ?? new Set()
    // The longer list may come from any number of spans further down, and is not copied for each of them.
    const [longer, shorter] = others.size < below.size ? [below, others] : [others, below]
    for (const span of shorter) span.sameParent = longer.add(span)
    above.recognisedBelow = longer
  }

  #nextUnrecognised(): LocalSpan | undefined {
    let { above } = this
    while (above !== undefined && isPassed(above)) above = above.above
    return above?.recognised === undefined && above?.isOver === false ? above : undefined
  }

  /** Must be called when it has ended unrecognised. Removes ended, unrecognised spans from its chain of ancestors. */
  shorten(): void {
    if (this.above !== undefined && isPassed(this.above)) this.above = this.above.above
  }
}

/**
 * Whether a span can be skipped in a chain of ancestors: it has ended and belongs to no run. So a chain of spans that each outlive their
 * parent, such as a poller that restarts itself within its own context, does not stay in memory.
 */
function isPassed({ open, recognised, isOver }: LocalSpan): boolean {
  return !open && recognised === undefined && !isOver
}

/**
 * The outermost open span of this process from here upwards, including the span itself. The result is cached along the way: otherwise, each
 * of thousands of calls at different depths would climb through all spans above it.
 */
export function outermostOpen(span: LocalSpan | undefined): LocalSpan | undefined {
  let found: LocalSpan | undefined
  for (let current = span; current !== undefined; current = current.above) {
    // A parent that was lost may have been found above it since.
    if (current.outermost?.open === true) current = current.outermost
    if (current.open) found = current
  }
  if (found === undefined) return undefined
  for (let passed = span; passed !== undefined && passed !== found && passed.outermost !== found;) {
    const next: LocalSpan | undefined = passed.outermost?.open === true ? passed.outermost : passed.above
    passed.outermost = found
    passed = next
  }
  return found
}

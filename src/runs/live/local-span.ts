import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { LiveSpan, WayUp } from './live-span.ts'

/** What names a span. */
export interface SpanIds {
  readonly traceId: string
  readonly spanId: string
}

/**
 * What is kept of every span that starts in this process, whether a dialect recognises it or not: who it is, and what is above
 * it. It does not hold the span, so that children and look-ups keep nothing of it in memory.
 */
export class LocalSpan implements WayUp {
  readonly context: SpanIds
  /** The span above it in this process; `undefined` for the outermost ones. */
  above: LocalSpan | undefined
  /** By the order of the hooks. */
  open: boolean
  /** Where a dialect recognises it: at its start, or by what was written on it since. */
  recognised: LiveSpan | undefined = undefined
  /** True where it was recognised, and its run is closed. */
  isOver = false
  /** Whether groups without an agent, which began below it, wait for its end. */
  isAwaited = false
  /** Whether a recognised span started below it. */
  hasRecognisedBelow = false
  /** Its place in the order of the starts, while it may still be recognised; 0 where it cannot, or has been. */
  askAgain = 0
  /** The nearest recognised span above it, as `SpanLinks` last found it, and after which change of what is recognised. */
  nearest: LocalSpan | undefined = undefined
  nearestAfter = 0
  /** Its entry among the recent spans, as `RecentSpans` counts them. */
  position = 0
  /** The entry of the outermost span that is known above it; 0 where it is that one itself. */
  readonly topPosition: number
  /** The id of the last span on the way up that is known or named; empty where there is none. */
  readonly topId: string
  /** Whether that span is named and never started here, though it is of this process. */
  readonly isLost: boolean

  constructor(
    context: SpanIds,
    above: LocalSpan | undefined,
    topId: string,
    topPosition: number,
    isLost: boolean,
    open: boolean,
  ) {
    this.context = context
    this.above = above
    this.topId = topId
    this.topPosition = topPosition
    this.isLost = isLost
    this.open = open
  }

  /** The record of a span that starts. `parent` is the span of this process that it is below, ended or not. */
  static startedBelow(span: SdkSpanLike, parent: LocalSpan | undefined): LocalSpan {
    const context = span.spanContext()
    if (parent === undefined) {
      const topId = span.parentSpanContext?.spanId ?? span.parentSpanId ?? ''
      const isLost = topId !== '' && span.parentSpanContext?.isRemote !== true
      return new LocalSpan(context, undefined, topId, 0, isLost, true)
    }
    const topId = parent.topId === '' ? parent.context.spanId : parent.topId
    const topPosition = parent.topPosition === 0 ? parent.position : parent.topPosition
    return new LocalSpan(context, isPassed(parent) ? parent.above : parent, topId, topPosition, parent.isLost, true)
  }

  /** To be called when it has ended and no dialect recognises it: shortens its way up past those that have ended too. */
  shorten(): void {
    if (this.above !== undefined && isPassed(this.above)) this.above = this.above.above
  }
}

/**
 * Whether a span is skipped on the way up: it has ended, and is of no run. A chain of spans that each outlive their parent (a
 * poller that re-arms itself within its own context) is not kept in memory.
 */
function isPassed({ open, recognised, isOver }: LocalSpan): boolean {
  return !open && recognised === undefined && !isOver
}

/** Whether the nearest recognised span from a span upwards, itself included, is of a run that is closed. */
export function isBelowOver(span: LocalSpan | undefined): boolean {
  let current = span
  while (current !== undefined && current.recognised === undefined && !current.isOver) current = current.above
  return current?.isOver === true
}

/** The outermost span of this process, from a span upwards, that has not ended. */
export function outermostOpen(span: LocalSpan | undefined): LocalSpan | undefined {
  let found: LocalSpan | undefined
  for (let current = span; current !== undefined; current = current.above) if (current.open) found = current
  return found
}

/** Whether the way up from a span, itself included, passes through another one. */
export function passes(span: LocalSpan | undefined, ancestor: LocalSpan): boolean {
  for (let current = span; current !== undefined; current = current.above) if (current === ancestor) return true
  return false
}

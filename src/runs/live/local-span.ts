import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { SpanNode } from './span-node.ts'

/**
 * What is kept of every span that starts in this process, whether a dialect recognises it or not: who it is, and what is above
 * it. It does not hold the span, so that children and look-ups keep nothing of it in memory.
 */
export class LocalSpan {
  readonly context: { readonly traceId: string; readonly spanId: string }
  /** The span above it in this process; `undefined` for the outermost ones. */
  above: LocalSpan | undefined
  /** By the order of the hooks. */
  open = true
  /** Where a dialect recognises it: at its start, or by what was written on it since. */
  node: SpanNode | undefined
  /** True where it was recognised, and its run is closed. */
  isOver = false
  /** Its place in the order of the starts, while it may still be recognised; 0 where it cannot, or has been. */
  askAgain = 0
  /** Whether it has a parent, here or elsewhere. */
  readonly hasParent: boolean

  constructor(span: SdkSpanLike, above: LocalSpan | undefined) {
    this.context = span.spanContext()
    this.above = above
    this.hasParent = above !== undefined || (span.parentSpanContext?.spanId ?? span.parentSpanId) !== undefined
  }

  /** Lets go of the recognised span, whose run is closed: this record may be found by its ids for long. */
  retire(): void {
    this.node = undefined
    this.isOver = true
  }
}

/** The nearest recognised span from a span upwards, itself included. */
export function nearestNode(span: LocalSpan | undefined): SpanNode | undefined {
  for (let current = span; current !== undefined; current = current.above) {
    if (current.node !== undefined) return current.node
  }
  return undefined
}

/** Whether the nearest recognised span from a span upwards, itself included, is of a run that is closed. */
export function isBelowOver(span: LocalSpan | undefined): boolean {
  let current = span
  while (current !== undefined && current.node === undefined && !current.isOver) current = current.above
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

/** Whether the trace began in this process: the outermost span that is known above has no parent anywhere. */
export function beganHere(span: LocalSpan): boolean {
  let top = span
  while (top.above !== undefined) top = top.above
  return !top.hasParent
}

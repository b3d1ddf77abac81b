import { SpanFacts } from '../spans/facts.ts'
import type { Below } from './placement.ts'

/**
 * A recognised span: what it says, through its dialect, and where it is among the recognised spans of its trace. The first
 * stays, once the span has ended; the second is written by each layout anew, because spans go on coming.
 */
export class TraceSpan extends SpanFacts {
  /** The nearest recognised span above; `undefined` for the outermost ones, and where the way up is lost. */
  parent: TraceSpan | undefined
  /** True where a span on the way up is named and was never seen. */
  isOrphan = false
  /** The id of the last span on the way up that was found or named: what siblings of a lost parent share. */
  topId = ''
  /** What was below it in this process and has been let go of, because it made up a run that is over. */
  forgottenBelow: Below | undefined
  /** True where the span has not ended: it gives the tree its shape, and no facts are read from it. */
  isOpen = false
  /** Spans of the same model call or tool call, which other instrumentations wrote inside it. */
  inner: readonly TraceSpan[] = NONE
  /** The list behind `inner`, where there is anything in it. */
  #inner: TraceSpan[] | undefined
  /** In the order of the layout: what is directly below it is a list, because most spans have nothing below. */
  firstChild: TraceSpan | undefined
  lastChild: TraceSpan | undefined
  nextSibling: TraceSpan | undefined
  /** Its place in the order of the layout. */
  index = -1
  /** For the search of cycles: 0 not seen, 1 on the way up, 2 seen. */
  mark: 0 | 1 | 2 = 0

  /** Says where it is, before a layout. */
  link(parent: TraceSpan | undefined, topId: string, isOrphan: boolean): void {
    this.parent = parent
    this.topId = topId
    this.isOrphan = isOrphan
    this.inner = NONE
    this.#inner = undefined
    this.firstChild = undefined
    this.lastChild = undefined
    this.nextSibling = undefined
    this.index = -1
    this.mark = 0
  }

  addInner(span: TraceSpan): void {
    if (this.#inner === undefined) {
      this.#inner = []
      this.inner = this.#inner
    }
    this.#inner.push(span)
  }

  addChild(span: TraceSpan): void {
    if (this.lastChild === undefined) this.firstChild = span
    else this.lastChild.nextSibling = span
    this.lastChild = span
  }
}

const NONE: readonly TraceSpan[] = []

/** Whether the agent may have been started by a tool that is not above it. */
export function isBesideItsTool({ dialect, role, span }: TraceSpan): boolean {
  return role === 'agent' && dialect.startsBesideItsTool?.(span) === true
}

/** Whether the library writes the spans of a run side by side, so that parents do not show where this one belongs. */
export function isFlat({ dialect, span }: TraceSpan): boolean {
  return dialect.isFlat?.(span) === true
}

import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { SpanNode } from './span-node.ts'

/** What is asked of a span that no dialect recognises: whether it is still open. */
export interface LocalSpan {
  isRecording(): boolean
}

/**
 * What a span's ancestry is told by: the node of a recognised span, or an ordinary span of this process that is open or
 * leads further up; `null` where nothing local is above.
 */
export type Link = SpanNode | LocalSpan | null

/**
 * The ancestry of open spans, kept on the span objects themselves: one property, written when a span starts and read where
 * a child starts. A map of open spans would cost every span of the application a write, a look-up and a removal.
 *
 * An ordinary span that has ended is skipped, so that a chain of spans that each outlive their parent (a poller that
 * re-arms itself within its own context) is not kept in memory.
 */
export class SpanLinks {
  /** A key of this instance: two processors on one provider keep their ancestries apart. */
  readonly #key: symbol = Symbol('spanscore.link')

  /** Under which the place of a span in the order of the starts is kept, while it is to be asked again. */
  readonly #askAgain: symbol = Symbol('spanscore.ask')

  /** The link that was stored on a span; `undefined` where it did not start here. */
  get(span: object): Link | undefined {
    return linked<Link>(span)[this.#key]
  }

  /** The node of a recognised span; `undefined` for every other. */
  ownNode(span: object): SpanNode | undefined {
    const link = this.get(span)
    return link instanceof SpanNode && link.span === span ? link : undefined
  }

  /** Keeps what is above a span (or its own node, where it is recognised) on the span. */
  set(span: object, link: Link): void {
    linked<Link>(span)[this.#key] = link
  }

  /** What a child of this span is linked to; `undefined` where the span did not start here. */
  below(parent: LocalSpan): Link | undefined {
    const link = this.get(parent)
    if (link === undefined || link instanceof SpanNode) return link
    return parent.isRecording() ? parent : link
  }

  /** Marks a span that may be recognised by what is still to be written on it, with its place in the order of the starts. */
  askAgain(span: object, startOrder: number): void {
    linked<number>(span)[this.#askAgain] = startOrder
  }

  /** Takes `askAgain` back: the place that was given, `undefined` where it was not called, or is taken back already. */
  takeAsk(span: object): number | undefined {
    const kept = linked<number>(span)
    const startOrder = kept[this.#askAgain]
    if (startOrder !== undefined) kept[this.#askAgain] = undefined
    return startOrder
  }

  /** To be called when an ordinary span ends: shortens its link past ancestors that have ended too. */
  shorten(span: object): void {
    const link = this.get(span)
    if (link === undefined || link === null || link instanceof SpanNode || link.isRecording()) return
    this.set(span, this.get(link) ?? null)
  }

  /** The nearest recognised span from a link upwards. */
  nearestNode(link: Link | undefined): SpanNode | undefined {
    let current = link
    while (current !== undefined && current !== null) {
      if (current instanceof SpanNode) return current
      current = this.get(current)
    }
    return undefined
  }

  /** The outermost ordinary or recognised span of this process, from a link upwards, that has not ended. */
  outermostOpen(link: Link | undefined): object | undefined {
    let found: object | undefined
    let current = link
    while (current !== undefined && current !== null) {
      if (current instanceof SpanNode) {
        if (current.open) found = current.span
        current = current.above
      } else {
        if (current.isRecording()) found = current
        current = this.get(current)
      }
    }
    return found
  }

  /** Whether the trace began in this process: the outermost span that is known above has no parent anywhere. */
  beganHere(node: SpanNode): boolean {
    let top: object = node.span
    let current: Link | undefined = node.above
    while (current !== undefined && current !== null) {
      top = current instanceof SpanNode ? current.span : current
      current = current instanceof SpanNode ? current.above : this.get(current)
    }
    return !hasParent(top)
  }

  /** Whether the ancestry from a link upwards passes through this span object. */
  passes(link: Link | undefined, ancestor: object): boolean {
    let current = link
    while (current !== undefined && current !== null) {
      if (current === ancestor) return true
      if (current instanceof SpanNode) {
        if (current.span === ancestor) return true
        current = current.above
      } else {
        current = this.get(current)
      }
    }
    return false
  }
}

/** Whether a span of any SDK line has a parent, here or elsewhere. */
function hasParent(span: Pick<SdkSpanLike, 'parentSpanContext' | 'parentSpanId'>): boolean {
  return (span.parentSpanContext?.spanId ?? span.parentSpanId) !== undefined
}

function linked<T>(span: object): Record<symbol, T | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property of our own on someone else's object
  return span as Record<symbol, T | undefined>
}

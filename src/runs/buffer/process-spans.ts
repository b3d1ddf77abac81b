import { SdkSourceSpan } from '../../spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { SpanRole } from '../../spans/dialect.ts'
import { idsInBaggage } from '../../spans/ids.ts'
import type { BaggageLike } from '../../spans/ids.ts'
import { dialectOfSdkSpan } from '../../spans/recognise.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import type { EndedRun } from './ended-run.ts'
import type { TraceBuffer } from './trace-buffer.ts'
import { TreeNode } from './tree-node.ts'

/** The active span when another one starts: a span of this process, or only its ids. */
export interface ParentSpan {
  spanContext(): {
    readonly traceId: string
    readonly spanId: string
    readonly isRemote?: boolean | undefined
  }
}

/** Spans may never end. Then children do not find the oldest of them by their ids. */
const MAX_OPEN = 10_000

/**
 * The spans of this process. Each has a property that leads to its node. A span of a library that has nothing to do with agents has no node
 * of its own: it leads to that of its parent.
 */
export class ProcessSpans {
  /** A key of this instance, so that two processors of one provider do not share nodes. */
  readonly #key: symbol = Symbol('spanscore.node')
  readonly #buffer: TraceBuffer
  /** When it began to receive spans, in milliseconds since the epoch. */
  readonly #sinceMs: number
  /** Open spans that no dialect recognises, for children that name their parent by its ids. */
  readonly #open = new Map<string, TreeNode>()
  #started = 0

  constructor(buffer: TraceBuffer, sinceMs: number) {
    this.#buffer = buffer
    this.#sinceMs = sinceMs
  }

  /** Must be called when a span starts, with the active span and the baggage of its parent context. Returns whether it may be in a run. */
  start(span: SdkSpanLike, parent: ParentSpan | undefined, baggage?: BaggageLike): boolean {
    const parentId = span.parentSpanContext?.spanId ?? span.parentSpanId ?? ''
    const above = parentId === '' || parent === undefined ? undefined : this.#nodeOfParent(span, parentId, parent)
    const dialect = above?.isSkipped === true ? 'ordinary' : dialectOfSdkSpan(span)
    // Nobody has to know a span that is never in a run: its children are its parent's.
    if (dialect === 'ordinary' && above !== undefined) {
      linked(span)[this.#key] = above
      return false
    }
    const node = this.#begin(span, parentId, above, dialect)
    if (baggage !== undefined) node.idsInBaggage = idsInBaggage(baggage)
    linked(span)[this.#key] = node
    return node.span !== undefined
  }

  /** Must be called when a span is ending. Returns the run whose agent it is. */
  ending(span: SdkSpanLike): EndedRun | undefined {
    const node = this.#own(span)
    if (node === undefined) return undefined
    if (node.span === undefined && !node.isAsked && node.isOpen && !node.isOver) {
      // Most hand-written spans get their attributes after their start.
      const dialect = dialectOfSdkSpan(span)
      if (dialect !== undefined && dialect !== 'ordinary') this.#hold(span, node, dialect)
      node.isAsked = true
    }
    // A recognised span whose trace is finished has only its role left.
    return node.span === undefined && node.role === undefined ? undefined : this.#buffer.end(node)
  }

  /** Must be called when a span has ended, after `ending`. Returns the role of a recognised span. */
  ended(span: SdkSpanLike): SpanRole | undefined {
    const node = this.#own(span)
    if (node === undefined) return undefined
    this.#open.delete(node.spanId)
    const role = node.role
    this.#buffer.ended(node, span.spanContext().traceId)
    return role
  }

  /** Whether a span is recognised, or was before its run was final. */
  isRecognised(span: SdkSpanLike): boolean {
    const node = this.#own(span)
    return node !== undefined && (node.span !== undefined || node.isOver)
  }

  /** Takes a log record in which an instrumentation wrote messages. */
  addLog(log: SourceLog): void {
    const node = this.#openNode(log.traceId, log.spanId) ?? this.#buffer.nodeOf(log.traceId, log.spanId)
    if (node !== undefined) this.#buffer.addLog(node, log)
  }

  #begin(
    span: SdkSpanLike,
    parentId: string,
    above: TreeNode | undefined,
    dialect: ReturnType<typeof dialectOfSdkSpan>,
  ): TreeNode {
    this.#started += 1
    const { spanId } = span.spanContext()
    const isRemote = above === undefined && span.parentSpanContext?.isRemote === true
    const node = new TreeNode({ spanId, parentId, isRemote }, above, span, this.#started)
    if (dialect === undefined || dialect === 'ordinary') {
      this.#open.set(spanId, node)
      if (this.#open.size > MAX_OPEN) for (const oldest of this.#open.keys()) return this.#drop(oldest, node)
    } else this.#hold(span, node, dialect)
    return node
  }

  #drop(oldest: string, node: TreeNode): TreeNode {
    this.#open.delete(oldest)
    return node
  }

  #hold(
    span: SdkSpanLike,
    node: TreeNode,
    dialect: Exclude<ReturnType<typeof dialectOfSdkSpan>, 'ordinary' | undefined>,
  ): void {
    this.#buffer.hold(node, new SdkSourceSpan(span, node.startOrder), dialect)
  }

  /** The node of a span, if it has one of its own. A processor in front may hand on a view of the span, as ours does. */
  #own(span: SdkSpanLike): TreeNode | undefined {
    const node = linked(span)[this.#key]
    return node !== undefined && (node.sdk === span || node.sdk === Object.getPrototypeOf(span)) ? node : undefined
  }

  #nodeOfParent(span: SdkSpanLike, parentId: string, parent: ParentSpan): TreeNode | undefined {
    const known = linked(parent)[this.#key]
    if (known !== undefined) return known
    const { traceId } = span.spanContext()
    return this.#openNode(traceId, parentId) ?? this.#buffer.nodeOf(traceId, parentId) ?? this.#unseen(parent)
  }

  #openNode(traceId: string, spanId: string): TreeNode | undefined {
    const node = this.#open.get(spanId)
    return node?.sdk?.spanContext().traceId === traceId ? node : undefined
  }

  /** The node of a recognised span that started before there was a buffer. Its run lacks spans. */
  #unseen(parent: ParentSpan): TreeNode | undefined {
    if (!isSdkSpan(parent) || parent.startTime[0] * 1000 + parent.startTime[1] / 1e6 >= this.#sinceMs) return undefined
    const dialect = dialectOfSdkSpan(parent)
    if (dialect === undefined || dialect === 'ordinary') return undefined
    const node = this.#begin(parent, '', undefined, dialect)
    linked(parent)[this.#key] = node
    if (node.span !== undefined) node.span.isTruncated = true
    return node
  }
}

function linked(span: object): Record<symbol, TreeNode | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property of our own on someone else's object
  return span as Record<symbol, TreeNode | undefined>
}

/** Whether this is an SDK's own span, and not just a span context. */
function isSdkSpan<Span extends object>(span: Span): span is Span & SdkSpanLike {
  if (!('startTime' in span) || !('attributes' in span)) return false
  return Array.isArray(span.startTime) && typeof span.attributes === 'object' && span.attributes !== null
}

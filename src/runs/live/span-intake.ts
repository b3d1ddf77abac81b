import type { Dialect } from '../../spans/dialect.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { beganBefore } from './began-before.ts'
import { recogniseSpan } from './recognise-span.ts'
import type { SpanGroups } from './span-groups.ts'
import type { Link, LocalSpan, SpanLinks } from './span-links.ts'
import { SpanNode } from './span-node.ts'
import type { SpanGroup } from './span-node.ts'
import type { TraceStoreOptions } from './trace-store-options.ts'

/** A started span, as processors get it. */
export type StartedSpan = SdkSpanLike & LocalSpan

/** The span that is active where another one starts, of this process or not. */
export type ParentSpan = LocalSpan & Pick<SdkSpanLike, 'spanContext'>

/**
 * Takes spans in: says of each what is above it and which group it belongs to, whether it is recognised when it starts, by what
 * was written on it since, or not at all.
 */
export class SpanIntake {
  readonly #links: SpanLinks
  readonly #groups: SpanGroups
  readonly #options: TraceStoreOptions
  readonly #onFull: () => void
  #started = 0

  /** @param onFull called when there are more groups than `maxOpenRuns` */
  constructor(links: SpanLinks, groups: SpanGroups, options: TraceStoreOptions, onFull: () => void) {
    this.#links = links
    this.#groups = groups
    this.#options = options
    this.#onFull = onFull
  }

  /** To be called when a span starts, with the span that is active in its parent context. */
  start(span: StartedSpan, parent: ParentSpan | undefined): void {
    const above = parent === undefined ? null : (this.#links.below(parent) ?? this.#strangerAbove(parent))
    // Nobody wants to know what is below an agent whose run no scorer wants.
    if (above instanceof SpanNode && above.group.isSkipped) {
      this.#links.set(span, above)
      return
    }
    const dialect = recogniseSpan(span)
    this.#started += 1
    if (dialect === undefined || dialect === 'ordinary') {
      this.#links.set(span, above)
      if (dialect === undefined) this.#links.askAgain(span, this.#started)
      return
    }
    this.#links.set(span, this.#startNode(span, dialect, above))
  }

  /** The node of a span, where a dialect recognises it: at its start, or by what was written on it since. */
  nodeOf(span: SdkSpanLike): SpanNode | undefined {
    return this.#links.ownNode(span) ?? this.#recogniseLate(span)
  }

  #startNode(span: StartedSpan, dialect: Dialect, above: Link): SpanNode {
    const parentNode = this.#links.nearestNode(above)
    if (parentNode?.closed) {
      // Linked past the latecomer, so that a chain of them does not grow.
      this.#options.onLate()
      return parentNode
    }
    if (parentNode !== undefined)
      return this.#addNode(new SpanNode(span, dialect, above, parentNode.group, this.#started))
    const group = this.#openGroup(span)
    const root = this.#addNode(new SpanNode(span, dialect, above, group, this.#started))
    group.isSkipped = !group.wanted && !this.#options.countsNested && root.currentRole === 'agent'
    return root
  }

  /** Above a span that did not start here: another provider's, or a wrapper that an instrumentation put around one of ours. */
  #strangerAbove(parent: ParentSpan): Link {
    if (!parent.isRecording()) return null
    const { traceId, spanId } = parent.spanContext()
    for (const group of this.#groups.ofTrace(traceId)) {
      const wrapped = group.nodes.find((node) => node.source.spanId === spanId)
      if (wrapped) return wrapped
    }
    return this.#unseenAbove(parent)
  }

  /** A span that was open before the store was there: what it is part of has lost its beginning, and says so. */
  #unseenAbove(parent: ParentSpan): Link {
    if (!beganBefore(parent, this.#options.sinceMs)) return null
    const dialect = recogniseSpan(parent)
    if (dialect === undefined || dialect === 'ordinary') return null
    const node = this.#startNode(parent, dialect, null)
    node.group.truncated = true
    this.#links.set(parent, node)
    return node
  }

  #openGroup(span: SdkSpanLike): SpanGroup {
    const { traceId } = span.spanContext()
    const group = this.#groups.open(traceId, this.#options.isWanted(traceId))
    if (this.#groups.size > this.#options.maxOpenRuns) this.#onFull()
    return group
  }

  #addNode(node: SpanNode): SpanNode {
    const { group } = node
    group.openCount += 1
    // The first is kept even of a group that nobody wants: it is what the run is counted by.
    if (group.nodes.length === 0 || (group.wanted && group.nodes.length < this.#options.maxSpansPerRun)) {
      group.nodes.push(node)
    } else if (group.wanted) {
      group.truncated = true
    }
    return node
  }

  /** Many instrumentations, and most spans written by hand, set their attributes only after the start. */
  #recogniseLate(span: SdkSpanLike): SpanNode | undefined {
    const startOrder = this.#links.takeAsk(span)
    if (startOrder === undefined) return undefined
    const dialect = recogniseSpan(span)
    if (dialect === undefined || dialect === 'ordinary') return undefined
    const above = this.#links.get(span)
    // One that did not start here has no ancestry to go by; one below a closed run was counted as late when it started.
    if (above === undefined) return undefined
    const parentNode = this.#links.nearestNode(above)
    if (parentNode?.closed) return undefined
    const group = parentNode?.group ?? this.#openGroup(span)
    const node = this.#addNode(new SpanNode(span, dialect, above, group, startOrder))
    this.#links.set(span, node)
    this.#adopt(node)
    return node
  }

  /** Groups that began below a span before it was recognised belong to it. */
  #adopt(node: SpanNode): void {
    for (const other of this.#groups.ofTrace(node.group.traceId)) {
      const root = other.nodes[0]
      if (other === node.group || root === undefined || !this.#links.passes(root.above, node.span)) continue
      this.#groups.merge(other, node.group)
    }
  }
}

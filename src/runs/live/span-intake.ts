import type { Dialect } from '../../spans/dialect.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { beganBefore } from './began-before.ts'
import { isBelowOver, nearestNode, passes } from './local-span.ts'
import type { LocalSpan } from './local-span.ts'
import { recogniseSpan } from './recognise-span.ts'
import type { SpanGroups } from './span-groups.ts'
import type { ParentSpan, SpanLinks } from './span-links.ts'
import { SpanNode } from './span-node.ts'
import type { SpanGroup } from './span-node.ts'
import type { TraceStoreOptions } from './trace-store-options.ts'

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
  start(span: SdkSpanLike, parent: ParentSpan | undefined): void {
    const above = parent && (this.#links.below(parent, span) ?? this.#unseenAbove(parent))
    const parentNode = nearestNode(above)
    // Nobody wants to know what is below an agent whose run no scorer wants.
    if (parentNode?.group.isSkipped === true) {
      this.#links.add(span, parentNode.local, false)
      return
    }
    const dialect = recogniseSpan(span)
    this.#started += 1
    const isRecognised = dialect !== undefined && dialect !== 'ordinary'
    const local = this.#links.add(span, above, isRecognised)
    if (dialect === undefined) local.askAgain = this.#started
    if (!isRecognised) return
    const node = this.#startNode(span, dialect, local)
    if (parent !== undefined && above === undefined && node !== undefined && this.#links.mayHaveForgotten(parent)) {
      node.group.truncated = true
    }
  }

  /** The node of a span, where a dialect recognises it: at its start, or by what was written on it since. */
  nodeOf(span: SdkSpanLike): SpanNode | undefined {
    const local = this.#links.get(span)
    return local?.node ?? (local && this.#recogniseLate(span, local))
  }

  #startNode(span: SdkSpanLike, dialect: Dialect, local: LocalSpan): SpanNode | undefined {
    if (isBelowOver(local.above)) {
      this.#options.onLate()
      return undefined
    }
    const parentNode = nearestNode(local.above)
    if (parentNode !== undefined)
      return this.#addNode(new SpanNode(span, dialect, local, parentNode.group, this.#started))
    const group = this.#openGroup(span)
    const root = this.#addNode(new SpanNode(span, dialect, local, group, this.#started))
    group.isSkipped = !group.wanted && !this.#options.countsNested && root.currentRole === 'agent'
    return root
  }

  /** A span that was open before the store was there: what it is part of has lost its beginning, and says so. */
  #unseenAbove(parent: ParentSpan): LocalSpan | undefined {
    if (!beganBefore(parent, this.#options.sinceMs)) return undefined
    const dialect = recogniseSpan(parent)
    if (dialect === undefined || dialect === 'ordinary') return undefined
    const local = this.#links.add(parent, undefined, true)
    const node = this.#startNode(parent, dialect, local)
    if (node !== undefined) node.group.truncated = true
    return local
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
  #recogniseLate(span: SdkSpanLike, local: LocalSpan): SpanNode | undefined {
    const startOrder = local.askAgain
    if (startOrder === 0) return undefined
    local.askAgain = 0
    const dialect = recogniseSpan(span)
    if (dialect === undefined || dialect === 'ordinary') return undefined
    // One below a closed run was counted as late when it started.
    if (isBelowOver(local.above)) return undefined
    const group = nearestNode(local.above)?.group ?? this.#openGroup(span)
    const node = this.#addNode(new SpanNode(span, dialect, local, group, startOrder))
    this.#links.recognised(local, span)
    this.#adopt(node)
    return node
  }

  /** Groups that began below a span before it was recognised belong to it. */
  #adopt(node: SpanNode): void {
    for (const other of this.#groups.ofTrace(node.group.traceId)) {
      const root = other.nodes[0]
      if (other === node.group || root === undefined || !passes(root.local.above, node.local)) continue
      this.#groups.merge(other, node.group)
    }
  }
}

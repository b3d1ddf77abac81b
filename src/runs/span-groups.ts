import { SpanGroup } from './span-node.ts'
import type { SpanNode } from './span-node.ts'

/** The groups that are not closed, and the bytes of content that they hold. */
export class SpanGroups implements Iterable<SpanGroup> {
  /** In the order in which they began: the first is the one to give up. */
  readonly #all = new Set<SpanGroup>()
  readonly #byTrace = new Map<string, Set<SpanGroup>>()
  #contentBytes = 0

  get size(): number {
    return this.#all.size
  }

  /** Bytes of content of their ended spans and log records. */
  get contentBytes(): number {
    return this.#contentBytes
  }

  get oldest(): SpanGroup | undefined {
    const [oldest] = this.#all
    return oldest
  }

  [Symbol.iterator](): Iterator<SpanGroup> {
    return this.#all.values()
  }

  ofTrace(traceId: string): readonly SpanGroup[] {
    return [...(this.#byTrace.get(traceId) ?? [])]
  }

  open(traceId: string, wanted: boolean): SpanGroup {
    const group = new SpanGroup(traceId, wanted)
    this.#all.add(group)
    const ofTrace = this.#byTrace.get(traceId)
    if (ofTrace) ofTrace.add(group)
    else this.#byTrace.set(traceId, new Set([group]))
    return group
  }

  /** Books bytes of content: more, or with a minus fewer. */
  addContent(group: SpanGroup, bytes: number): void {
    group.contentBytes += bytes
    this.#contentBytes += bytes
  }

  /** Lets go of a group that is over. */
  close(group: SpanGroup): void {
    group.closed = true
    // Not booked on the group: its run may still be asked how large it is.
    this.#contentBytes -= group.contentBytes
    for (const node of group.nodes) node.retire()
    group.nodes = []
    this.#remove(group)
  }

  /** Moves everything of one group into another. */
  merge(from: SpanGroup, into: SpanGroup): void {
    for (const node of from.nodes) node.group = into
    into.nodes.push(...from.nodes)
    into.openCount += from.openCount
    into.contentBytes += from.contentBytes
    into.logs.push(...from.logs)
    into.waiting.push(...from.waiting)
    into.undecided.push(...from.undecided)
    into.hasWork ||= from.hasWork
    into.hasRun ||= from.hasRun
    this.#remove(from)
  }

  /** Lets go of some of a group's spans. */
  forget(group: SpanGroup, isForgotten: (node: SpanNode) => boolean): void {
    const forgotten = new Set(group.nodes.filter(isForgotten))
    for (const node of forgotten) {
      node.retire()
      this.addContent(group, -node.contentBytes)
    }
    group.nodes = group.nodes.filter((node) => !forgotten.has(node))
  }

  #remove(group: SpanGroup): void {
    this.#all.delete(group)
    const ofTrace = this.#byTrace.get(group.traceId)
    ofTrace?.delete(group)
    if (ofTrace?.size === 0) this.#byTrace.delete(group.traceId)
  }
}

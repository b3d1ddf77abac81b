import { SpanGroup } from './span-node.ts'
import type { SpanNode } from './span-node.ts'

/** The groups that are not closed, and the bytes of content that they hold. */
export class SpanGroups implements Iterable<SpanGroup> {
  /** The ends of the list of groups, in the order in which they began: a set would hash every one of them. */
  #oldest: SpanGroup | undefined
  #newest: SpanGroup | undefined
  readonly #byTrace = new Map<string, SpanGroup[]>()
  #size = 0
  #contentBytes = 0

  get size(): number {
    return this.#size
  }

  /** Bytes of content of their ended spans and log records. */
  get contentBytes(): number {
    return this.#contentBytes
  }

  /** The first to give up. */
  get oldest(): SpanGroup | undefined {
    return this.#oldest
  }

  *[Symbol.iterator](): Iterator<SpanGroup> {
    for (let group = this.#oldest; group !== undefined; group = group.newer) yield group
  }

  ofTrace(traceId: string): readonly SpanGroup[] {
    return [...(this.#byTrace.get(traceId) ?? [])]
  }

  open(traceId: string, wanted: boolean): SpanGroup {
    const group = new SpanGroup(traceId, wanted)
    group.older = this.#newest
    if (this.#newest === undefined) this.#oldest = group
    else this.#newest.newer = group
    this.#newest = group
    this.#size += 1
    const ofTrace = this.#byTrace.get(traceId)
    if (ofTrace) ofTrace.push(group)
    else this.#byTrace.set(traceId, [group])
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
    const ofTrace = this.#byTrace.get(group.traceId)
    const index = ofTrace?.indexOf(group) ?? -1
    // It was given up, or merged into another.
    if (ofTrace === undefined || index === -1) return
    if (ofTrace.length === 1) this.#byTrace.delete(group.traceId)
    else ofTrace.splice(index, 1)
    if (group.older === undefined) this.#oldest = group.newer
    else group.older.newer = group.newer
    if (group.newer === undefined) this.#newest = group.older
    else group.newer.older = group.older
    group.older = undefined
    group.newer = undefined
    this.#size -= 1
  }
}

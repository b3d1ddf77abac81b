import type { LiveSpan } from './live-span.ts'
import { SpanGroup } from './span-group.ts'
import type { SpanLinks } from './span-links.ts'

/** The groups that are not closed, and the bytes of content that they hold. */
export class SpanGroups implements Iterable<SpanGroup> {
  readonly #links: Pick<SpanLinks, 'retire'>
  /** The ends of the list of groups, in the order in which they began: a set would hash every one of them. */
  #oldest: SpanGroup | undefined
  #newest: SpanGroup | undefined
  readonly #byTrace = new Map<string, Set<SpanGroup>>()
  #size = 0
  #heldBytes = 0

  constructor(links: Pick<SpanLinks, 'retire'>) {
    this.#links = links
  }

  get size(): number {
    return this.#size
  }

  /** Bytes that their spans and log records hold, estimated. */
  get heldBytes(): number {
    return this.#heldBytes
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

  open(traceId: string, wanted: boolean, sinceMs: number): SpanGroup {
    const group = new SpanGroup(traceId, wanted, sinceMs)
    group.older = this.#newest
    if (this.#newest === undefined) this.#oldest = group
    else this.#newest.newer = group
    this.#newest = group
    this.#size += 1
    const ofTrace = this.#byTrace.get(traceId)
    if (ofTrace) ofTrace.add(group)
    else this.#byTrace.set(traceId, new Set([group]))
    return group
  }

  /** Books bytes: more, or with a minus fewer. */
  add(group: SpanGroup, contentBytes: number, heldBytes: number): void {
    group.contentBytes += contentBytes
    group.heldBytes += heldBytes
    this.#heldBytes += heldBytes
  }

  /** Lets go of a group that is over. */
  close(group: SpanGroup): void {
    group.closed = true
    // Not booked on the group: its run may still be asked how large it is.
    this.#heldBytes -= group.heldBytes
    for (const span of group.spans) this.#links.retire(span.local)
    group.spans = []
    this.#remove(group)
  }

  /** Moves everything of one group into another. */
  merge(from: SpanGroup, into: SpanGroup): void {
    for (const span of from.spans) span.group = into
    into.spans.push(...from.spans)
    into.openCount += from.openCount
    into.contentBytes += from.contentBytes
    into.heldBytes += from.heldBytes
    into.waiting.push(...from.waiting.splice(0))
    into.undecided.push(...from.undecided)
    into.hasWork ||= from.hasWork
    into.hasRun ||= from.hasRun
    into.flatAtMs = Math.max(into.flatAtMs, from.flatAtMs)
    into.truncated ||= from.truncated
    into.version += 1
    from.openCount = 0
    this.#remove(from)
  }

  /** Lets go of some of a group's spans. */
  forget(group: SpanGroup, isForgotten: (span: LiveSpan) => boolean): void {
    const kept: LiveSpan[] = []
    for (const span of group.spans) {
      if (!isForgotten(span)) {
        kept.push(span)
        continue
      }
      this.#links.retire(span.local)
      this.add(group, -span.contentBytes, -span.heldBytes)
    }
    group.spans = kept
    group.version += 1
  }

  #remove(group: SpanGroup): void {
    group.waitsFor?.agentless?.delete(group)
    group.waitsFor = undefined
    const ofTrace = this.#byTrace.get(group.traceId)
    // It was given up, or merged into another.
    if (ofTrace?.delete(group) !== true) return
    if (ofTrace.size === 0) this.#byTrace.delete(group.traceId)
    if (group.older === undefined) this.#oldest = group.newer
    else group.older.newer = group.newer
    if (group.newer === undefined) this.#newest = group.older
    else group.newer.older = group.older
    group.older = undefined
    group.newer = undefined
    this.#size -= 1
  }
}

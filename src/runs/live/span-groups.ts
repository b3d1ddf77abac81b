import { heldBytesOfOpen } from './content-bytes.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'
import { SpanGroup } from './span-group.ts'
import type { SpanLinks } from './span-links.ts'

/** Maximum number of open spans of a group that are counted again at a time. */
const MOST_MEASURED = 16

/** The open groups, and the bytes that they hold. */
export class SpanGroups implements Iterable<LiveGroup> {
  readonly #links: Pick<SpanLinks, 'retire'>
  readonly #onRemoved: (group: LiveGroup) => void
  /** A linked list of groups in the order in which they began; a set would hash each of them. */
  #oldest: LiveGroup | undefined
  #newest: LiveGroup | undefined
  /** The group whose open spans were counted last. */
  #measured: LiveGroup | undefined
  /** The groups by trace. Most traces have one group, which needs no set. */
  readonly #byTrace = new Map<string, LiveGroup | Set<LiveGroup>>()
  #size = 0
  #heldBytes = 0

  /** @param onRemoved called with each group that is closed or merged into another, or has an open span again */
  constructor(links: Pick<SpanLinks, 'retire'>, onRemoved: (group: LiveGroup) => void) {
    this.#links = links
    this.#onRemoved = onRemoved
  }

  get size(): number {
    return this.#size
  }

  /** Estimated bytes of their spans and log records in memory. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** The first group to evict. */
  get oldest(): LiveGroup | undefined {
    return this.#oldest
  }

  *[Symbol.iterator](): Iterator<LiveGroup> {
    for (let group = this.#oldest; group !== undefined; group = group.newer) yield group
  }

  ofTrace(traceId: string): readonly LiveGroup[] {
    return [...this.inTrace(traceId)]
  }

  /** Those of a trace, to be looked at as they are. */
  inTrace(traceId: string): Iterable<LiveGroup> {
    const found = this.#byTrace.get(traceId)
    return found === undefined ? [] : found instanceof Set ? found : [found]
  }

  open(traceId: string, wanted: boolean, sinceMs: number): LiveGroup {
    const group = new SpanGroup<LiveSpan>(traceId, wanted, sinceMs)
    group.older = this.#newest
    if (this.#newest === undefined) this.#oldest = group
    else this.#newest.newer = group
    this.#newest = group
    this.#size += 1
    const others = this.#byTrace.get(traceId)
    if (others instanceof Set) others.add(group)
    else this.#byTrace.set(traceId, others === undefined ? group : new Set([others, group]))
    return group
  }

  /** Adds to the bytes of a group; negative numbers subtract. */
  add(group: LiveGroup, contentBytes: number, heldBytes: number): void {
    group.contentBytes += contentBytes
    group.heldBytes += heldBytes
    this.#heldBytes += heldBytes
  }

  /** Sets the bytes of the SDK's span, which may have been counted before. */
  setOwnBytes(span: LiveSpan, bytes: number): void {
    const more = bytes - span.ownBytes
    span.ownBytes = bytes
    span.heldBytes += more
    this.add(span.group, 0, more)
  }

  /** Adds the bytes of a span's log record, also to the spans above that count the span already. */
  addLog(span: LiveSpan, contentBytes: number, heldBytes: number): void {
    span.contentBytes += contentBytes
    span.heldBytes += heldBytes
    this.add(span.group, contentBytes, heldBytes)
    for (let at: LiveSpan | undefined = span; at !== undefined; at = at.hasOpen ? undefined : at.above) {
      at.subtree.contentBytes += contentBytes
    }
  }

  /**
   * Counts the open spans of one group again, each time of the next one: attributes may be written long before a span ends, and some spans
   * never end.
   */
  measureNext(): void {
    this.#measured = this.#measured?.newer ?? this.#oldest
    if (this.#measured === undefined) return
    const { spans, openCount } = this.#measured
    let left = Math.min(MOST_MEASURED, openCount)
    for (const span of spans) {
      // All others have ended. There may be thousands of them.
      if (left === 0) return
      if (!span.isOpen) continue
      this.setOwnBytes(span, Math.max(span.ownBytes, heldBytesOfOpen(span.sdkSpan)))
      left -= 1
    }
  }

  /** Drops a finished group. */
  close(group: LiveGroup): void {
    group.closed = true
    // The group's own count stays, because its run may still be asked for its size.
    this.#heldBytes -= group.heldBytes
    for (const span of group.spans) this.#links.retire(span.sdkSpan)
    group.spans.clear()
    group.kept = undefined
    this.#remove(group)
  }

  /**
   * Merges a group with that of a span above it, which was recognised later and is the outermost one of both. The smaller group is moved:
   * each of thousands of spans, one above the other, may be recognised at its end.
   */
  mergeBelow(group: LiveGroup, top: LiveSpan): void {
    if (group.spans.size <= top.group.spans.size || !top.isKept) {
      this.merge(group, top.group)
      return
    }
    this.merge(top.group, group)
    group.lateTop = top
    // It has an open span again.
    this.#onRemoved(group)
  }

  /** Moves everything from one group into another. */
  merge(from: LiveGroup, into: LiveGroup): void {
    for (const span of from.spans) {
      span.group = into
      into.spans.add(span)
    }
    into.openCount += from.openCount
    into.contentBytes += from.contentBytes
    into.heldBytes += from.heldBytes
    for (const agent of from.waiting) {
      into.waiting.add(agent)
      // It was the outermost span, and waited for its whole group.
      into.due.push(agent)
    }
    from.waiting.clear()
    into.undecided.push(...from.undecided.splice(0))
    into.settled.push(...from.settled.splice(0))
    into.hasWork ||= from.hasWork
    into.hasRun ||= from.hasRun
    into.hasDuplicate ||= from.hasDuplicate
    into.flatAtMs = Math.max(into.flatAtMs, from.flatAtMs)
    into.flatOrder = Math.min(into.flatOrder, from.flatOrder)
    into.truncated ||= from.truncated
    into.version += 1
    from.openCount = 0
    // Code that still refers to it must not lay out its spans again.
    from.spans.clear()
    this.#remove(from)
  }

  /** Drops some spans of a group. */
  forget(group: LiveGroup, spans: Iterable<LiveSpan>): void {
    for (const span of spans) {
      if (!group.spans.delete(span)) continue
      this.#links.retire(span.sdkSpan)
      this.add(group, -span.contentBytes, -span.heldBytes)
    }
    group.version += 1
    group.kept = undefined
  }

  #remove(group: LiveGroup): void {
    this.#onRemoved(group)
    const ofTrace = this.#byTrace.get(group.traceId)
    // It was evicted, or merged into another group.
    if (ofTrace instanceof Set ? !ofTrace.delete(group) : ofTrace !== group) return
    if (!(ofTrace instanceof Set) || ofTrace.size === 0) this.#byTrace.delete(group.traceId)
    if (group.older === undefined) this.#oldest = group.newer
    else group.older.newer = group.newer
    if (group.newer === undefined) this.#newest = group.older
    else group.newer.older = group.older
    group.older = undefined
    group.newer = undefined
    this.#size -= 1
  }
}

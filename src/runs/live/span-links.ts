import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { LiveSpan } from './live-span.ts'
import { LocalSpan } from './local-span.ts'
import type { SpanIds } from './local-span.ts'
import { RecentSpans } from './recent-spans.ts'

/** The active span when another one starts: a span of this process, or only its ids. */
export interface ParentSpan {
  spanContext(): {
    readonly traceId: string
    readonly spanId: string
    readonly traceFlags: number
    readonly isRemote?: boolean | undefined
  }
}

const LIMITS = { maxOrdinary: 32_768, maxRecognised: 16_384, maxAgeSeconds: 86_400 }

const SAMPLED = 1

/** Ancestors that are looked at before a span is connected with a lost parent. */
const MAX_ANCESTORS = 4096

/** Whether a span is another one or an ancestor of it; true as well if that cannot be known within a bounded time. */
function isAtOrAbove(span: LocalSpan, other: LocalSpan): boolean {
  let above: LocalSpan | undefined = other
  for (let steps = 0; steps < MAX_ANCESTORS; steps++) {
    if (above === undefined) return false
    if (above === span) return true
    above = above.above
  }
  return true
}

/**
 * The ancestry of spans in this process. The record of a span is a property of the SDK's span object, and is read when a child starts. Some
 * instrumentations only pass on the ids of the parent, and a remote caller may be this process: then the record is found by its ids.
 */
export class SpanLinks {
  /** A key of this instance, so that two processors of one provider do not share records. */
  readonly #key: symbol = Symbol('spanscore.span')
  readonly #recent = new RecentSpans(LIMITS)
  /** Increases when a span is recognised that may have children already. */
  #changes = 1

  /** The record of a span; `undefined` if it did not start here. */
  get(span: object): LocalSpan | undefined {
    return linked(span)[this.#key]
  }

  /** Registers the start of a span. */
  add(span: SdkSpanLike, parent: LocalSpan | undefined, isRecognised: boolean): LocalSpan {
    const local = LocalSpan.startedBelow(span, parent)
    linked(span)[this.#key] = local
    if (isRecognised) this.#recent.addRecognised(local, span.startTime[0])
    else this.#recent.addOrdinary(local, span.startTime[0])
    return local
  }

  /**
   * Adds a record for a span that is named as a parent but never started here, so that its other children find it.
   *
   * @param above The agent or tool that it belongs to, if that is known.
   * @param startSeconds When its first child began, in seconds since the epoch.
   */
  addLost(context: SpanIds, above: LocalSpan | undefined, isAmbiguous: boolean, startSeconds: number): LocalSpan {
    const lost = LocalSpan.lost(context, above, isAmbiguous)
    this.#recent.addOrdinary(lost, startSeconds)
    this.#recent.release(lost)
    return lost
  }

  /** Connects the topmost known ancestor of a span to the record of its lost parent. */
  connect(span: LocalSpan, lost: LocalSpan): void {
    let top = span
    top.isAmbiguous = lost.isAmbiguous
    if (lost.above === undefined && !lost.isOver) return
    while (top.above !== undefined) {
      top = top.above
      top.isAmbiguous = lost.isAmbiguous
    }
    const above = lost.isOver ? lost : lost.above
    // A span may name itself as its parent, or one that is below it.
    if (above !== undefined && isAtOrAbove(top, above)) return
    top.above = above
    this.#changes += 1
  }

  /** Must be called when a span is recognised after its start. From now on it is stored among the recognised spans. */
  recognised(local: LocalSpan, span: SdkSpanLike): void {
    this.#changes += 1
    this.#recent.addRecognised(local, span.startTime[0])
  }

  /** Must be called when a recognised span has ended. Its record is dropped with its run. */
  closed(span: SdkSpanLike): void {
    const local = this.get(span)
    if (local !== undefined) close(local)
  }

  /** Must be called when a span of no open run has ended: an ordinary one, one dropped at a limit, or one of a closed run. */
  ended(local: LocalSpan): void {
    close(local)
    if (local.recognisedBelow !== undefined) local.passOn(local.recognisedBelow)
    local.shorten()
    this.#recent.release(local)
  }

  /** Drops a recognised span whose run is closed. Its record can be found by its ids for some time. */
  retire(span: SdkSpanLike): void {
    const local = this.get(span)
    if (local === undefined) return
    local.recognised?.sameParent?.delete(local.recognised)
    local.recognised = undefined
    local.isOver = true
    if (!local.open) this.#recent.release(local)
  }

  /** The nearest recognised span from here upwards, including the span itself, whose run is not closed. */
  nearestRecognised(span: LocalSpan | undefined): LiveSpan | undefined {
    const first = this.#nearestKnown(span)
    let found = first
    while (found !== undefined && found.recognised === undefined) found = this.#nearestKnown(this.#nextUp(found))
    for (let passed = first; passed !== undefined && passed !== found;) {
      const next = this.#nearestKnown(this.#nextUp(passed))
      this.#remember(passed, found)
      passed = next
    }
    return found?.recognised
  }

  /** Whether the nearest span from here upwards that was ever recognised belongs to a closed run. */
  isBelowOver(span: LocalSpan | undefined): boolean {
    return this.#nearestKnown(span)?.isOver === true
  }

  /**
   * The nearest span from here upwards, including the span itself, that is recognised or was until its run was closed. The result is cached
   * along the way; otherwise each new span in a chain of thousands would climb all of it.
   */
  #nearestKnown(span: LocalSpan | undefined): LocalSpan | undefined {
    let found = span
    while (found !== undefined && found.recognised === undefined && !found.isOver) found = this.#nextUp(found)
    for (let passed = span; passed !== undefined && passed !== found;) {
      const next = this.#nextUp(passed)
      this.#remember(passed, found)
      passed = next
    }
    return found
  }

  #remember(passed: LocalSpan, found: LocalSpan | undefined): void {
    passed.nearest = found
    passed.nearestAfter = this.#changes
  }

  #nextUp(span: LocalSpan): LocalSpan | undefined {
    return span.nearestAfter === this.#changes ? span.nearest : span.above
  }

  /**
   * The parent of `child` in this process: by the object, or else by its ids. Remote callers choose the ids that they send. If these are ids of
   * a closed run, to which nothing is added any more, a new run begins: otherwise a caller could keep its runs from being scored.
   */
  parentOf(parent: ParentSpan, child: SdkSpanLike): LocalSpan | undefined {
    const own = this.get(parent)
    if (own !== undefined) return own
    const context = parent.spanContext()
    const found = this.find(context, child.startTime[0])
    return context.isRemote === true && this.isBelowOver(found) ? undefined : found
  }

  /** Whether a parent that was not found may be a span of this process that was overwritten. */
  mayHaveForgotten(parent: ParentSpan): boolean {
    const { traceFlags, isRemote } = parent.spanContext()
    return isRemote !== true && (traceFlags & SAMPLED) !== 0 && this.#recent.hasForgotten
  }

  /** @param atSeconds time of the look-up, in seconds since the epoch */
  find(ids: SpanIds, atSeconds: number): LocalSpan | undefined {
    return this.#recent.find(ids, atSeconds)
  }
}

/** What it has cached is no longer needed, and would keep other spans in memory. */
function close(local: LocalSpan): void {
  local.open = false
  local.outermost = undefined
}

function linked(span: object): Record<symbol, LocalSpan | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property of our own on someone else's object
  return span as Record<symbol, LocalSpan | undefined>
}

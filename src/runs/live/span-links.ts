import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { LocalSpan } from './local-span.ts'
import { RecentSpans } from './recent-spans.ts'

/** The span that is active where another one starts: one of this process, or no more than its ids. */
export interface ParentSpan {
  spanContext(): {
    readonly traceId: string
    readonly spanId: string
    readonly traceFlags: number
    readonly isRemote?: boolean | undefined
  }
}

/** How many of the latest spans are found by their ids. Recognised ones are few, and what is below them is long at work. */
const MAX_ORDINARY = 32_768
const MAX_RECOGNISED = 16_384
const MAX_AGE_SECONDS = 86_400

const SAMPLED = 1

/**
 * The ancestry of the spans of this process. What belongs to a span is kept on the span object itself, in one property, which
 * is read where a child starts. Some instrumentations hand their children no more than the parent's ids, and remote callers
 * may turn out to be this very process: then the ids are looked up.
 *
 * A span that has ended is skipped where it was not recognised, so that a chain of spans that each outlive their parent (a
 * poller that re-arms itself within its own context) is not kept in memory.
 */
export class SpanLinks {
  /** A key of this instance: two processors on one provider keep their ancestries apart. */
  readonly #key: symbol = Symbol('spanscore.span')
  readonly #ordinary = new RecentSpans(MAX_ORDINARY, MAX_AGE_SECONDS)
  readonly #recognised = new RecentSpans(MAX_RECOGNISED, MAX_AGE_SECONDS)

  /** What is kept of a span; `undefined` where it did not start here. */
  get(span: object): LocalSpan | undefined {
    return linked(span)[this.#key]
  }

  /** Notes the start of a span. */
  add(span: SdkSpanLike, parent: LocalSpan | undefined, isRecognised: boolean): LocalSpan {
    const local = new LocalSpan(span, parent)
    if (parent !== undefined && !parent.open && parent.recognised === undefined && !parent.isOver)
      local.above = parent.above
    linked(span)[this.#key] = local
    const recent = isRecognised ? this.#recognised : this.#ordinary
    recent.add(local, span.startTime[0])
    return local
  }

  /** To be called when a span turns out to be recognised: it is found among the others of its kind from now on. */
  recognised(local: LocalSpan, span: SdkSpanLike): void {
    this.#recognised.add(local, span.startTime[0])
  }

  /** The span of this process that a child of `parent` is below: by the object, else by its ids. */
  parentOf(parent: ParentSpan, child: SdkSpanLike): LocalSpan | undefined {
    return this.get(parent) ?? this.find(parent.spanContext(), child.startTime[0])
  }

  /** Whether a parent that was not found may have been a span of this process that has fallen out. */
  mayHaveForgotten(parent: ParentSpan): boolean {
    const { traceFlags, isRemote } = parent.spanContext()
    if (isRemote === true || (traceFlags & SAMPLED) === 0) return false
    return this.#ordinary.hasForgotten || this.#recognised.hasForgotten
  }

  /** To be called when a span has ended that nobody recognises: shortens its way up past those that have ended too. */
  shorten(local: LocalSpan): void {
    const { above } = local
    if (above !== undefined && !above.open && above.recognised === undefined && !above.isOver) local.above = above.above
  }

  /** @param atSeconds When it is looked for, in seconds since the epoch. */
  find(
    { traceId, spanId }: { readonly traceId: string; readonly spanId: string },
    atSeconds: number,
  ): LocalSpan | undefined {
    return this.#recognised.find(traceId, spanId, atSeconds) ?? this.#ordinary.find(traceId, spanId, atSeconds)
  }
}

function linked(span: object): Record<symbol, LocalSpan | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property of our own on someone else's object
  return span as Record<symbol, LocalSpan | undefined>
}

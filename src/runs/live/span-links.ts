import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { LiveSpan } from './live-span.ts'
import { LocalSpan } from './local-span.ts'
import type { SpanIds } from './local-span.ts'
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

const LIMITS = { maxOrdinary: 32_768, maxRecognised: 16_384, maxAgeSeconds: 86_400 }

const SAMPLED = 1

/**
 * The ancestry of the spans of this process. What belongs to a span is kept on the span object itself, in one property, which
 * is read where a child starts. Some instrumentations hand their children no more than the parent's ids, and remote callers
 * may turn out to be this very process: then the ids are looked up.
 */
export class SpanLinks {
  /** A key of this instance: two processors on one provider keep their ancestries apart. */
  readonly #key: symbol = Symbol('spanscore.span')
  readonly #recent = new RecentSpans(LIMITS)
  /** How often a span was recognised that others may have started below. */
  #changes = 1

  /** What is kept of a span; `undefined` if it did not start here. */
  get(span: object): LocalSpan | undefined {
    return linked(span)[this.#key]
  }

  /** Notes the start of a span. */
  add(span: SdkSpanLike, parent: LocalSpan | undefined, isRecognised: boolean): LocalSpan {
    const local = LocalSpan.startedBelow(span, parent)
    linked(span)[this.#key] = local
    if (isRecognised) this.#recent.addRecognised(local, span.startTime[0])
    else this.#recent.addOrdinary(local, span.startTime[0])
    return local
  }

  /** To be called when a span turns out to be recognised: it is found among the others of its kind from now on. */
  recognised(local: LocalSpan, span: SdkSpanLike): void {
    this.#changes += 1
    this.#recent.addRecognised(local, span.startTime[0])
  }

  /** To be called when a recognised span has ended. What is kept of it is let go of with its run. */
  closed(span: SdkSpanLike): void {
    const local = this.get(span)
    if (local !== undefined) local.open = false
  }

  /** To be called when a span has ended that is of no run: ordinary, left out over a limit, or of a run that is closed. */
  ended(local: LocalSpan): void {
    local.open = false
    local.shorten()
    this.#recent.release(local)
  }

  /** Lets go of a recognised span, whose run is closed. Its record may be found by its ids for long. */
  retire(span: SdkSpanLike): void {
    const local = this.get(span)
    if (local === undefined) return
    local.recognised = undefined
    local.isOver = true
    if (!local.open) this.#recent.release(local)
  }

  /**
   * The nearest recognised span from a span upwards, itself included. What is found is noted on the way: each span that starts in
   * a chain of thousands would climb all of it otherwise.
   */
  nearestRecognised(span: LocalSpan | undefined): LiveSpan | undefined {
    let found = span
    while (found !== undefined && found.recognised === undefined) found = this.#nextUp(found)
    for (let passed = span; passed !== undefined && passed !== found;) {
      const next = this.#nextUp(passed)
      passed.nearest = found
      passed.nearestAfter = this.#changes
      passed = next
    }
    return found?.recognised
  }

  #nextUp(span: LocalSpan): LocalSpan | undefined {
    return span.nearestAfter === this.#changes ? span.nearest : span.above
  }

  /** The span of this process that a child of `parent` is below: by the object, else by its ids. */
  parentOf(parent: ParentSpan, child: SdkSpanLike): LocalSpan | undefined {
    return this.get(parent) ?? this.find(parent.spanContext(), child.startTime[0])
  }

  /** Whether a parent that was not found may have been a span of this process that has fallen out. */
  mayHaveForgotten(parent: ParentSpan): boolean {
    const { traceFlags, isRemote } = parent.spanContext()
    return isRemote !== true && (traceFlags & SAMPLED) !== 0 && this.#recent.hasForgotten
  }

  /** @param atSeconds When it is looked for, in seconds since the epoch. */
  find(ids: SpanIds, atSeconds: number): LocalSpan | undefined {
    return this.#recent.find(ids, atSeconds)
  }
}

function linked(span: object): Record<symbol, LocalSpan | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property of our own on someone else's object
  return span as Record<symbol, LocalSpan | undefined>
}

import { LocalSpan } from './local-span.ts'
import type { SpanIds } from './local-span.ts'
import { SpanTable } from './span-table.ts'

/** How many of the latest spans are found by their ids. Recognised ones are few, and what is below them is long at work. */
export interface RecentSpansLimits {
  /** A power of two, 32,768 at most. */
  readonly maxOrdinary: number
  /** A power of two, 32,768 at most. */
  readonly maxRecognised: number
  readonly maxAgeSeconds: number
}

/**
 * The latest spans that started in this process, found by trace and span id. A `position` names an entry: positive ones are of
 * ordinary spans, negative ones of recognised spans, and 0 is none.
 */
export class RecentSpans {
  readonly #ordinary: SpanTable
  readonly #recognised: SpanTable

  constructor({ maxOrdinary, maxRecognised, maxAgeSeconds }: RecentSpansLimits) {
    this.#ordinary = new SpanTable(maxOrdinary, maxAgeSeconds)
    this.#recognised = new SpanTable(maxRecognised, maxAgeSeconds)
  }

  /** Whether spans have fallen out, so that one that is not found may have been here. */
  get hasForgotten(): boolean {
    return this.#ordinary.hasForgotten || this.#recognised.hasForgotten
  }

  /** @param startedAt When it began, in seconds since the epoch. */
  addOrdinary(span: LocalSpan, startedAt: number): void {
    span.position = this.#ordinary.add(span, startedAt)
  }

  /** To be called with a recognised span when it starts, or when it turns out to be one. */
  addRecognised(span: LocalSpan, startedAt: number): void {
    const { position, topPosition, topId, isLost } = span
    span.position = -this.#recognised.add(span, startedAt)
    if (position > 0) this.#ordinary.release(position, { above: span, isOver: false, topPosition, topId, isLost })
  }

  /** To be called when nothing of a span changes any more: it has ended, and its run is closed where it is of one. */
  release(span: LocalSpan): void {
    this.#tableOf(span.position).release(Math.abs(span.position), span)
  }

  /**
   * The record of a span. Where it was let go of, one that says the same of what is above it.
   *
   * @param atSeconds When it is looked for, in seconds since the epoch: what began longer ago than the limit is not found.
   */
  find({ traceId, spanId }: SpanIds, atSeconds: number): LocalSpan | undefined {
    const position =
      -this.#recognised.find(traceId, spanId, atSeconds) || this.#ordinary.find(traceId, spanId, atSeconds)
    if (position === 0) return undefined
    const table = this.#tableOf(position)
    const record = table.recordAt(Math.abs(position))
    if (record !== undefined) return record
    const past = table.pastAt(Math.abs(position))
    if (past === undefined) return undefined
    const { above, isBelowOver } = this.#wayUp(past.above)
    const topId = past.top === 0 ? past.namedAbove : this.#topIdAt(past.top)
    const found = new LocalSpan({ traceId, spanId }, above, topId, past.top, past.isLost, false)
    found.isOver = past.isOver || isBelowOver
    found.position = position
    return found
  }

  /** The next record from a position upwards, and whether spans of closed runs were passed on the way to it. */
  #wayUp(from: number): { readonly above: LocalSpan | undefined; readonly isBelowOver: boolean } {
    let isBelowOver = false
    let position = from
    while (position !== 0) {
      const table = this.#tableOf(position)
      const above = table.recordAt(Math.abs(position))
      if (above !== undefined) return { above, isBelowOver }
      const past = table.pastAt(Math.abs(position))
      isBelowOver ||= past?.isOver === true
      position = past?.above ?? 0
    }
    return { above: undefined, isBelowOver }
  }

  /** What an outermost span names as its parent, else its own id; the empty text where it has fallen out. */
  #topIdAt(position: number): string {
    const table = this.#tableOf(position)
    const record = table.recordAt(Math.abs(position))
    if (record !== undefined) return record.topId || record.context.spanId
    const past = table.pastAt(Math.abs(position))
    return past === undefined ? '' : past.namedAbove || past.spanId
  }

  #tableOf(position: number): SpanTable {
    return position > 0 ? this.#ordinary : this.#recognised
  }
}

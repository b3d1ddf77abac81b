import { LocalSpan } from './local-span.ts'
import type { SpanIds } from './local-span.ts'
import { SpanTable } from './span-table.ts'

/** How many of the latest spans can be found by their ids. Recognised spans are few and have long-running children. */
export interface RecentSpansLimits {
  /** A power of two, at most 32,768. */
  readonly maxOrdinary: number
  /** A power of two, at most 32,768. */
  readonly maxRecognised: number
  /** Maximum seconds since the start of a span. */
  readonly maxAgeSeconds: number
}

/**
 * The latest spans of this process, found by trace and span id. A `position` identifies an entry: positive for ordinary spans, negative for
 * recognised ones, 0 for none.
 */
export class RecentSpans {
  readonly #ordinary: SpanTable
  readonly #recognised: SpanTable

  constructor({ maxOrdinary, maxRecognised, maxAgeSeconds }: RecentSpansLimits) {
    this.#ordinary = new SpanTable(maxOrdinary, maxAgeSeconds)
    this.#recognised = new SpanTable(maxRecognised, maxAgeSeconds)
  }

  /** Whether spans have been overwritten, so that a missing span may have been here. */
  get hasForgotten(): boolean {
    return this.#ordinary.hasForgotten || this.#recognised.hasForgotten
  }

  /** @param startedAt start time, in seconds since the epoch */
  addOrdinary(span: LocalSpan, startedAt: number): void {
    span.position = this.#ordinary.add(span, startedAt)
  }

  /** Must be called with a recognised span when it starts, or when it is recognised later. */
  addRecognised(span: LocalSpan, startedAt: number): void {
    const { position, topPosition, topId, isLost, isAmbiguous } = span
    span.position = -this.#recognised.add(span, startedAt)
    if (position <= 0) return
    this.#ordinary.release(position, { above: span, isOver: false, topPosition, topId, isLost, isAmbiguous })
  }

  /** Must be called when a span is final: it has ended, and its run, if any, is closed. */
  release(span: LocalSpan): void {
    this.#tableOf(span.position).release(Math.abs(span.position), span)
  }

  /**
   * The record of a span. If it was dropped, an equivalent record of its ancestors.
   *
   * @param atSeconds time of the look-up, in seconds since the epoch; spans that began before the age limit are not found
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
    const found = new LocalSpan({ traceId, spanId }, above, topId, past.top, past.isLost, false, past.isAmbiguous)
    found.isOver = past.isOver || isBelowOver
    found.position = position
    return found
  }

  /** The next record from a position upwards, and whether spans of closed runs were skipped on the way. */
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

  /** The id that an outermost span names as its parent, or else its own; empty if it was overwritten. */
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

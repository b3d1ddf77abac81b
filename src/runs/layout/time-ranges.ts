import type { TraceSpan } from '../trace-span.ts'

/** A span with its times, which are read once: many spans may be compared with many others. */
export interface TimedSpan {
  readonly node: TraceSpan
  readonly fromMs: number
  readonly toMs: number
}

export function timed(node: TraceSpan): TimedSpan {
  return { node, fromMs: node.span.startTimeMs, toMs: node.span.endTimeMs }
}

/** Whether a span was active for the whole time of another one. */
export function encloses(outer: TimedSpan, inner: TimedSpan): boolean {
  return outer.fromMs <= inner.fromMs && outer.toMs >= inner.toMs
}

/** Finds the only one of some items that was active for a whole time, without looking at each of them. */
export class OnlyAround<Item> {
  /** By start. Each has the two that end last among itself and those before it. */
  readonly #items: readonly { readonly fromMs: number; readonly last: Ends<Item>; readonly secondToMs: number }[]

  constructor(items: readonly Item[], spanOf: (item: Item) => TraceSpan) {
    const ordered = items
      .map((item) => ({ item, fromMs: spanOf(item).span.startTimeMs, toMs: spanOf(item).span.endTimeMs }))
      .toSorted((left, right) => left.fromMs - right.fromMs)
    let last: Ends<Item> | undefined
    let secondToMs = Number.NEGATIVE_INFINITY
    this.#items = ordered.map((each) => {
      if (last === undefined || each.toMs > last.toMs) {
        secondToMs = last?.toMs ?? secondToMs
        last = each
      } else secondToMs = Math.max(secondToMs, each.toMs)
      return { fromMs: each.fromMs, last, secondToMs }
    })
  }

  /** The only item that began no later than `fromMs` and ended no earlier than `toMs`; `undefined` if there are none or several. */
  find(fromMs: number, toMs: number): Item | undefined {
    let [low, high] = [0, this.#items.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#items[middle]?.fromMs ?? 0) <= fromMs) low = middle + 1
      else high = middle
    }
    const found = this.#items[low - 1]
    return found !== undefined && found.last.toMs >= toMs && found.secondToMs < toMs ? found.last.item : undefined
  }
}

interface Ends<Item> {
  readonly item: Item
  readonly toMs: number
}

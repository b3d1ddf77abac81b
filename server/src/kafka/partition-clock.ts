/**
 * The time of a partition: how far its topics have been read, by the times at which the broker appended their records. Where
 * one topic lags behind, its time counts; once everything has been read, time goes on by a monotonic clock. A worker that was
 * away thus takes no spans for late that it has not read yet. The time never goes back.
 */
export class PartitionClock {
  readonly #monotonicMs: () => number
  /** By topic: when the latest record that was read was appended, and whether there are more. */
  readonly #topics: Map<string, { readonly latestMs: number; readonly isCaughtUp: boolean }>
  #floorMs = 0
  #hasBegun = false
  /** Since when everything has been read, on the monotonic clock. */
  #sinceMs: number | undefined

  constructor(topics: readonly string[], monotonicMs: () => number) {
    this.#topics = new Map(topics.map((topic) => [topic, { latestMs: 0, isCaughtUp: false }]))
    this.#monotonicMs = monotonicMs
  }

  /** Milliseconds since the epoch, of the broker. 0 before anything is known. */
  get nowMs(): number {
    return this.#sinceMs === undefined ? this.#floorMs : this.#floorMs + (this.#monotonicMs() - this.#sinceMs)
  }

  /**
   * A topic was read.
   *
   * @param appendMs When the broker appended the latest record; `undefined` where there was none.
   * @param isCaughtUp Whether all of it has been read.
   */
  advance(topic: string, appendMs: number | undefined, isCaughtUp: boolean): void {
    const known = this.#topics.get(topic)
    if (known === undefined) return
    const latestMs = Math.max(known.latestMs, appendMs ?? 0)
    if (latestMs === known.latestMs && isCaughtUp === known.isCaughtUp) return
    // The time begins with the first record, whichever topic it is on: what is held must not be taken for old at the second one.
    if (!this.#hasBegun && appendMs !== undefined) {
      this.#hasBegun = true
      this.#floorMs = appendMs
    }
    this.#topics.set(topic, { latestMs, isCaughtUp })
    const { nowMs } = this
    const all = [...this.#topics.values()]
    const lagging = all.filter((each) => !each.isCaughtUp)
    const readMs =
      lagging.length === 0
        ? Math.max(...all.map((each) => each.latestMs))
        : Math.min(...lagging.map((each) => each.latestMs))
    this.#floorMs = Math.max(nowMs, readMs)
    this.#sinceMs = lagging.length === 0 ? this.#monotonicMs() : undefined
  }
}

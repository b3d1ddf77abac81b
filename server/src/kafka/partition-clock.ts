/**
 * How far time goes on beyond the moment at which it was seen last that everything has been read, in milliseconds. A process that
 * was stopped, and one whose brokers do not answer, has not read what came meanwhile.
 */
const AHEAD_MS = 1000

interface TopicTime {
  /** When the latest record that was read was appended. */
  readonly latestMs: number
  readonly isCaughtUp: boolean
  /** When it was seen last that all of it has been read, on the monotonic clock. */
  seenMs: number
}

/**
 * The time of a partition: how far its topics have been read, by the times at which the broker appended their records. Where
 * one topic lags behind, its time counts; once everything has been read, time goes on by a monotonic clock, as long as the broker
 * says again and again that there is nothing more. A worker that was away thus takes no spans for late that it has not read yet.
 * The time never goes back.
 */
export class PartitionClock {
  readonly #monotonicMs: () => number
  readonly #topics: Map<string, TopicTime>
  #floorMs = 0
  #hasBegun = false
  /** Since when everything has been read, on the monotonic clock. */
  #sinceMs: number | undefined

  constructor(topics: readonly string[], monotonicMs: () => number) {
    this.#topics = new Map(topics.map((topic) => [topic, { latestMs: 0, isCaughtUp: false, seenMs: 0 }]))
    this.#monotonicMs = monotonicMs
  }

  /** Milliseconds since the epoch, of the broker. 0 before anything is known. */
  get nowMs(): number {
    if (this.#sinceMs === undefined) return this.#floorMs
    let untilMs = this.#monotonicMs()
    for (const { seenMs } of this.#topics.values()) untilMs = Math.min(untilMs, seenMs + AHEAD_MS)
    return this.#floorMs + Math.max(0, untilMs - this.#sinceMs)
  }

  /**
   * A topic was read.
   *
   * @param appendMs When the broker appended the latest record; `undefined` if there was none.
   * @param isCaughtUp Whether all of it has been read.
   */
  advance(topic: string, appendMs: number | undefined, isCaughtUp: boolean): void {
    const known = this.#topics.get(topic)
    if (known === undefined) return
    if (isCaughtUp) known.seenMs = this.#monotonicMs()
    const latestMs = Math.max(known.latestMs, appendMs ?? 0)
    if (latestMs === known.latestMs && isCaughtUp === known.isCaughtUp) return
    // The time begins with the first record, whichever topic it is on: what is held must not be taken for old at the second one.
    if (!this.#hasBegun && appendMs !== undefined) {
      this.#hasBegun = true
      this.#floorMs = appendMs
    }
    const { nowMs } = this
    this.#topics.set(topic, { ...known, latestMs, isCaughtUp })
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

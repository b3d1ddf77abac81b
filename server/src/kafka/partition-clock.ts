/**
 * How many milliseconds time goes on after the last moment when everything was known to be read. A process that was stopped, or whose
 * brokers do not answer, has not read what arrived since then.
 */
const AHEAD_MS = 1000

interface TopicTime {
  /** When the latest record that was read was appended. */
  readonly latestMs: number
  readonly isCaughtUp: boolean
  /** When everything was last known to be read, on the monotonic clock. */
  seenMs: number
}

/**
 * The time of a partition: how far its topics were read, by the broker's append times. If one topic lags behind, its time counts. Once
 * everything is read, time follows a monotonic clock, as long as the broker keeps reporting that there is nothing more. So a worker that
 * was stopped does not treat unread spans as late. The time never goes back.
 */
export class PartitionClock {
  readonly #monotonicMs: () => number
  readonly #topics: Map<string, TopicTime>
  #floorMs = 0
  #hasBegun = false
  /** Since when everything was read, on the monotonic clock. */
  #sinceMs: number | undefined

  constructor(topics: readonly string[], monotonicMs: () => number) {
    this.#topics = new Map(topics.map((topic) => [topic, { latestMs: 0, isCaughtUp: false, seenMs: 0 }]))
    this.#monotonicMs = monotonicMs
  }

  /** The broker's time in milliseconds since the epoch; 0 before anything is known. */
  get nowMs(): number {
    if (this.#sinceMs === undefined) return this.#floorMs
    let untilMs = this.#monotonicMs()
    for (const { seenMs } of this.#topics.values()) untilMs = Math.min(untilMs, seenMs + AHEAD_MS)
    return this.#floorMs + Math.max(0, untilMs - this.#sinceMs)
  }

  /**
   * Called when a topic was read.
   *
   * @param appendMs when the broker appended the latest record; `undefined` if there was none
   * @param isCaughtUp whether everything was read
   */
  advance(topic: string, appendMs: number | undefined, isCaughtUp: boolean): void {
    const known = this.#topics.get(topic)
    if (known === undefined) return
    if (isCaughtUp) known.seenMs = this.#monotonicMs()
    const latestMs = Math.max(known.latestMs, appendMs ?? 0)
    if (latestMs === known.latestMs && isCaughtUp === known.isCaughtUp) return
    // Time starts with the first record of any topic; otherwise held records would look old at the second one.
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

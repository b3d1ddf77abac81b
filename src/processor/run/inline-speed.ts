/** Longest that a scorer may hold up `span.end()`, in milliseconds. */
export const MAX_INLINE_MS = 5

/** Calls around which the thread's processor time is read: a scorer's first, and those after one that seemed slow. */
const WATCHED_CALLS = 20

/**
 * Finds the scorers that are too slow to run while a span is ending. A scorer that computes for too long is recognised by the
 * processor time of a single call. One that took long by the clock may have waited, for a file for example, or the machine
 * was busy: it is too slow when that happens twice in a row. Reading the processor time costs a third of a microsecond, so
 * a scorer that has been quick for a while is timed by the clock alone, until one of its calls seems slow.
 */
export class InlineSpeed {
  /** How many more calls of a scorer are timed by the processor time. Scorers that are not here are timed by the clock. */
  readonly #watched = new Map<string, number>()
  /** Scorers whose last call was slow by the clock. */
  readonly #slow = new Set<string>()
  readonly #cpuMs: () => number
  readonly #maxMs: number

  /**
   * @param cpuMs Processor time that this thread has used, in milliseconds; the clock's time where the platform does not report it.
   * @param maxMs Longest that one call may take, in milliseconds.
   */
  constructor(ids: readonly string[], cpuMs: () => number, maxMs: number = MAX_INLINE_MS) {
    this.#cpuMs = cpuMs
    this.#maxMs = maxMs
    for (const id of ids) this.#watched.set(id, WATCHED_CALLS)
  }

  /** Before a call: what `isTooSlow` is given after it. */
  start(id: string): number | undefined {
    return this.#watched.has(id) ? this.#cpuMs() : undefined
  }

  /** After a call, with what it took by the clock. */
  isTooSlow(id: string, tookMs: number, startCpuMs: number | undefined): boolean {
    if (tookMs <= this.#maxMs) {
      this.#slow.delete(id)
      if (startCpuMs !== undefined) this.#watchLess(id)
      return false
    }
    const isSecond = this.#slow.has(id)
    this.#slow.add(id)
    this.#watched.set(id, WATCHED_CALLS)
    return isSecond || (startCpuMs !== undefined && this.#cpuMs() - startCpuMs > this.#maxMs)
  }

  #watchLess(id: string): void {
    const left = (this.#watched.get(id) ?? 0) - 1
    if (left > 0) this.#watched.set(id, left)
    else this.#watched.delete(id)
  }
}

/** Processor time of this thread, in milliseconds; before Node.js 23.9 the time of the clock. */
export function threadCpuMs(): number {
  if (process.threadCpuUsage === undefined) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

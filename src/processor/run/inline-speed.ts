/** Maximum milliseconds that a scorer may delay `span.end()`. */
export const MAX_INLINE_MS = 5

/** For how many calls the thread's CPU time is measured: the first ones, and those after a call that seemed slow. */
const WATCHED_CALLS = 20

/**
 * Finds scorers that are too slow to run while a span is ending. One call with too much CPU time is enough. A call that is slow by the
 * clock may have waited, for example for a file, or the machine was busy, so two in a row are needed. Reading the CPU time takes a third of
 * a microsecond, so a scorer that was quick for a while is only timed by the clock, until a call seems slow.
 */
export class InlineSpeed {
  /** How many more calls of a scorer to measure by CPU time. Scorers that are missing here are timed by the clock. */
  readonly #watched = new Map<string, number>()
  /** Scorers whose last call was slow by the clock. */
  readonly #slow = new Set<string>()
  readonly #cpuMs: () => number
  readonly #maxMs: number

  /**
   * @param cpuMs this thread's CPU time in milliseconds, or the clock's time if the platform does not report it
   * @param maxMs most milliseconds for one call
   */
  constructor(ids: readonly string[], cpuMs: () => number, maxMs: number = MAX_INLINE_MS) {
    this.#cpuMs = cpuMs
    this.#maxMs = maxMs
    for (const id of ids) this.#watched.set(id, WATCHED_CALLS)
  }

  /** Must be called before a call. Its result is passed to `isTooSlow`. */
  start(id: string): number | undefined {
    return this.#watched.has(id) ? this.#cpuMs() : undefined
  }

  /** Must be called after a call, with its duration by the clock. */
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

/** This thread's CPU time in milliseconds; before Node.js 23.9 the clock's time. */
export function threadCpuMs(): number {
  if (process.threadCpuUsage === undefined) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Milliseconds that a scorer may repeatedly delay `span.end()`. */
export const MAX_INLINE_MS = 5

/** Milliseconds of CPU time after which one call is enough. */
const MAX_SINGLE_CALL_MS = 50

/** For how many calls the thread's CPU time is measured: the first ones, and those after a call that seemed slow. */
const WATCHED_CALLS = 20

/** After how many calls in a row that were slow by the clock a scorer is too slow, although it used little CPU time. */
const SLOW_WAITS = 3

/**
 * Finds scorers that are too slow to run while a span is ending:
 *
 * - One call used more than 50 ms of CPU time.
 * - Two calls in a row used more than 5 ms of CPU time.
 * - Three calls in a row were slow by the clock. They may have waited, for example for a file.
 *
 * One slow call of up to 50 ms proves nothing: the scorer's code may have been new, garbage may have been collected during the call, or the
 * machine may have been busy. Reading the CPU time takes half a microsecond, so a scorer that was quick for a while is only timed by the
 * clock, until a call seems slow.
 */
export class InlineSpeed {
  /** How many more calls of a scorer to measure by CPU time. Scorers that are missing here are timed by the clock. */
  readonly #watched = new Map<string, number>()
  /** How many of a scorer's latest calls in a row were slow by the clock. Scorers whose last call was quick are missing. */
  readonly #slow = new Map<string, number>()
  /** Scorers whose last call was slow, and either used CPU time or was not measured. */
  readonly #busy = new Set<string>()
  readonly #cpuMs: () => number
  readonly #maxMs: number
  readonly #maxSingleMs: number

  /**
   * @param cpuMs this thread's CPU time in milliseconds, or the clock's time if the platform does not report it
   * @param maxMs maximum milliseconds of a quick call
   */
  constructor(ids: readonly string[], cpuMs: () => number, maxMs: number = MAX_INLINE_MS) {
    this.#cpuMs = cpuMs
    this.#maxMs = maxMs
    this.#maxSingleMs = Math.max(maxMs, MAX_SINGLE_CALL_MS)
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
      this.#busy.delete(id)
      if (startCpuMs !== undefined) this.#watchLess(id)
      return false
    }
    const slow = (this.#slow.get(id) ?? 0) + 1
    this.#slow.set(id, slow)
    this.#watched.set(id, WATCHED_CALLS)
    const wasBusy = this.#busy.has(id)
    const usedMs = startCpuMs === undefined ? undefined : this.#cpuMs() - startCpuMs
    if (usedMs === undefined || usedMs > this.#maxMs) this.#busy.add(id)
    else this.#busy.delete(id)
    if (slow >= SLOW_WAITS) return true
    return usedMs !== undefined && (usedMs > this.#maxSingleMs || (usedMs > this.#maxMs && wasBusy))
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

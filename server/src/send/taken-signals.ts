import type { Signal } from '../log/span-log.ts'

/** How a destination answers a signal that it does not have: Phoenix answers 405. A wrong address has the same answer, to both. */
const NOT_FOUND: ReadonlySet<number | undefined> = new Set([404, 405])

/**
 * Which signals a destination takes. Some backends take spans and no log records: what they do not take must not hold back the rest. A signal
 * is missing if it was never accepted, and the other one is accepted now.
 */
export class TakenSignals {
  readonly #ever = new Set<Signal>()
  readonly #now = new Set<Signal>()

  /**
   * Called with each answer.
   *
   * @param status the HTTP status; `undefined` if there is none
   * @returns whether the destination does not have the signal
   */
  lacks(signal: Signal, status: number | undefined): boolean {
    this.#now.delete(signal)
    return NOT_FOUND.has(status) && !this.#ever.has(signal) && this.#now.has(signal === 'logs' ? 'traces' : 'logs')
  }

  accepted(signal: Signal): void {
    this.#ever.add(signal)
    this.#now.add(signal)
  }
}

/** What operators read about it. */
export function describeLack(signal: Signal): string {
  const what =
    signal === 'logs'
      ? 'no log records, so that scores are sent as spans only'
      : 'no spans, so that scores are sent as events only'
  return `The destination takes ${what} (HTTP 404 or 405 at /v1/${signal}).`
}

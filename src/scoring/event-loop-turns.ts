import { inNextTurn } from './host-timers.ts'

/** After this many milliseconds, no more work starts in the same turn of the event loop. */
export const TURN_SLICE_MS = 5

/**
 * Spreads work over turns of the event loop and bounds how much starts in each. Otherwise several slow synchronous scorers would run
 * in one turn and block the application for the sum of their times.
 */
export class EventLoopTurns {
  readonly #now: () => number
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** @param now A monotonic clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Resolves in a turn that has time left, in the order of the calls. Only the caller's synchronous work counts towards the limit. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#isTaken) return
      this.#isTaken = true
      inNextTurn(() => void this.#give())
    })
  }

  async #give(): Promise<void> {
    const endMs = this.#now() + TURN_SLICE_MS
    do {
      this.#waiting.shift()?.()
      // Lets the caller that was just resolved continue first.
      await Promise.resolve()
    } while (this.#waiting.length > 0 && this.#now() < endMs)
    this.#isTaken = this.#waiting.length > 0
    if (this.#isTaken) inNextTurn(() => void this.#give())
  }
}

import { inNextTurn } from './host-timers.ts'

/** Milliseconds of one turn of the event loop after which nothing more begins in it. */
export const TURN_SLICE_MS = 5

/**
 * Gives work turns of the event loop. What begins in one turn is bounded: several scorers that each compute for their whole time would
 * together block the application for as many times as long.
 */
export class EventLoopTurns {
  readonly #now: () => number
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** @param now A monotonic clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Resolves in a turn that has time left, in the order of the calls. What the caller then does must be synchronous to count. */
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
      // What has just been resolved goes on before this does.
      await Promise.resolve()
    } while (this.#waiting.length > 0 && this.#now() < endMs)
    this.#isTaken = this.#waiting.length > 0
    if (this.#isTaken) inNextTurn(() => void this.#give())
  }
}

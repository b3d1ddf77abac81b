import { after } from '../scoring/after.ts'
import type { Cancel } from '../scoring/after.ts'

/** Something with its own next deadline. */
export interface DeadlineSource {
  /** Its next deadline, on the timer's clock; `undefined` if it has none. */
  readonly nextDeadlineMs: number | undefined
  /** Does everything that is due. */
  sweep(): void
}

/** Sweeps a source whenever it is due, with one timer. */
export class SweepTimer {
  readonly #source: DeadlineSource
  readonly #now: () => number
  readonly #onError: (error: unknown) => void
  #cancel: Cancel | undefined
  #atMs = Number.POSITIVE_INFINITY

  /**
   * @param now a monotonic clock, in milliseconds
   * @param onError called with an error of a sweep; further ones still happen
   */
  constructor(source: DeadlineSource, now: () => number, onError: (error: unknown) => void) {
    this.#source = source
    this.#now = now
    this.#onError = onError
  }

  /** Must be called when the source may be due earlier than before. */
  changed(): void {
    const atMs = this.#source.nextDeadlineMs
    if (atMs === undefined || atMs >= this.#atMs) return
    this.#cancel?.()
    this.#atMs = atMs
    this.#cancel = after(atMs - this.#now(), () => this.#sweep())
  }

  stop(): void {
    this.#cancel?.()
  }

  #sweep(): void {
    this.#atMs = Number.POSITIVE_INFINITY
    try {
      this.#source.sweep()
    } catch (error) {
      this.#onError(error)
    }
    this.changed()
  }
}

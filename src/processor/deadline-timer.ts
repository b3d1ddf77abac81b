/** One timer for the earliest of many deadlines. It keeps no process alive. */
export class DeadlineTimer {
  readonly #now: () => number
  readonly #next: () => number | undefined
  readonly #due: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #armedForMs = Number.POSITIVE_INFINITY

  /**
   * @param now A monotonic clock, in milliseconds.
   * @param next When something is next due, on that clock.
   * @param due Does what is due.
   */
  constructor(now: () => number, next: () => number | undefined, due: () => void) {
    this.#now = now
    this.#next = next
    this.#due = due
  }

  /** Whether something is due before the timer fires. */
  get isLate(): boolean {
    const nextMs = this.#next()
    return nextMs !== undefined && nextMs < this.#armedForMs
  }

  /** To be called when a deadline may have been added. */
  arm(): void {
    const nextMs = this.#next()
    if (nextMs === undefined || nextMs >= this.#armedForMs) return
    clearTimeout(this.#timer)
    this.#armedForMs = nextMs
    this.#timer = setTimeout(() => this.#fire(), Math.max(0, nextMs - this.#now()))
    this.#timer.unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#armedForMs = Number.POSITIVE_INFINITY
  }

  #fire(): void {
    this.#armedForMs = Number.POSITIVE_INFINITY
    this.#due()
    this.arm()
  }
}

/** Items with the same delay, in the order in which they were added. */
export class Deadlines {
  readonly #waitMs: number
  readonly #now: () => number
  readonly #waiting: { readonly atMs: number; readonly due: () => void }[] = []

  /** @param now a monotonic clock, in milliseconds */
  constructor(waitMs: number, now: () => number) {
    this.#waitMs = waitMs
    this.#now = now
  }

  /** The next deadline, on the clock of `now`. */
  get nextMs(): number | undefined {
    return this.#waiting[0]?.atMs
  }

  add(due: () => void): void {
    this.#waiting.push({ atMs: this.#now() + this.#waitMs, due })
  }

  /** Processes what is due. */
  sweep(): void {
    const nowMs = this.#now()
    while (this.#waiting[0] && this.#waiting[0].atMs <= nowMs) this.#waiting.shift()?.due()
  }

  /** Processes everything, due or not, in steps. */
  *sweepAll(): Generator<undefined, void> {
    for (const { due } of this.#waiting.splice(0)) {
      due()
      yield
    }
  }
}

/** Things that are due after the same wait, in the order in which the wait began. */
export class Deadlines {
  readonly #waitMs: number
  readonly #now: () => number
  readonly #waiting: { readonly atMs: number; readonly due: () => void }[] = []

  /** @param now A monotonic clock, in milliseconds. */
  constructor(waitMs: number, now: () => number) {
    this.#waitMs = waitMs
    this.#now = now
  }

  /** When something is next due, on the clock of `now`. */
  get nextMs(): number | undefined {
    return this.#waiting[0]?.atMs
  }

  add(due: () => void): void {
    this.#waiting.push({ atMs: this.#now() + this.#waitMs, due })
  }

  /** Does what is due. */
  sweep(): void {
    const nowMs = this.#now()
    while (this.#waiting[0] && this.#waiting[0].atMs <= nowMs) this.#waiting.shift()?.due()
  }

  /** Does all of it, due or not, in steps. */
  *sweepAll(): Generator<undefined, void> {
    for (const { due } of this.#waiting.splice(0)) {
      due()
      yield
    }
  }
}

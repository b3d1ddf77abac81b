/** Something that is due later. */
export interface SettleDeadline {
  /** What is due; absent if it is not due any more. */
  due: (() => void) | undefined
}

/** Maximum milliseconds of one turn of the event loop for what is due. */
const SLICE_MS = 5

/** Items with the same delay, in the order in which they were added. */
export class Deadlines {
  readonly #waitMs: number
  readonly #now: () => number
  readonly #waiting: (SettleDeadline & { readonly atMs: number })[] = []

  /** @param now a monotonic clock, in milliseconds */
  constructor(waitMs: number, now: () => number) {
    this.#waitMs = waitMs
    this.#now = now
  }

  /** The next deadline, on the clock of `now`. */
  get nextMs(): number | undefined {
    return this.#waiting[0]?.atMs
  }

  /** Removing `due` from the result cancels it. The rest of the entry stays in the list until its time. */
  add(due: () => void): SettleDeadline {
    const deadline = { atMs: this.#now() + this.#waitMs, due }
    this.#waiting.push(deadline)
    return deadline
  }

  /** Processes what is due. Thousands of items may be due at the same time: those that take too long for one turn remain due. */
  sweep(): void {
    const nowMs = this.#now()
    const endMs = nowMs + SLICE_MS
    while (this.#waiting[0] && this.#waiting[0].atMs <= nowMs) {
      this.#waiting.shift()?.due?.()
      if (this.#now() >= endMs) return
    }
  }

  /** Processes everything, due or not, in steps. */
  *sweepAll(): Generator<undefined, void> {
    for (const { due } of this.#waiting.splice(0)) {
      due?.()
      yield
    }
  }
}

/** Steps of work, which are taken in order. `Array.prototype.shift` would move all that are left, each time. */
export class StepQueue {
  /** The next steps, the first of them at the end. */
  #next: (() => void)[] = []
  #later: (() => void)[] = []

  get size(): number {
    return this.#next.length + this.#later.length
  }

  add(step: () => void): void {
    this.#later.push(step)
  }

  /** Adds a step before all others. */
  addFirst(step: () => void): void {
    this.#next.push(step)
  }

  /** Removes and returns the first step; `undefined` if there is none. */
  take(): (() => void) | undefined {
    if (this.#next.length === 0) {
      this.#next = this.#later.toReversed()
      this.#later = []
    }
    return this.#next.pop()
  }
}

/**
 * Scores that were announced and are not in. Who waits, waits for those that were announced before: a process that always has
 * some under way would else never be done.
 */
export class PendingScores {
  /** How many of each generation are not in. A generation ends where somebody begins to wait. */
  readonly #open = new Map<number, number>()
  readonly #waiting = new Set<{ readonly upTo: number; readonly resolve: () => void }>()
  #generation = 0

  /** Announces a score; gives the generation that it belongs to. */
  begin(generation: number = this.#generation): number {
    this.#open.set(generation, (this.#open.get(generation) ?? 0) + 1)
    return generation
  }

  /** To be called once for each score that was announced, whatever came of it. */
  end(generation: number): void {
    const left = (this.#open.get(generation) ?? 0) - 1
    if (left > 0) {
      this.#open.set(generation, left)
      return
    }
    this.#open.delete(generation)
    for (const waiter of this.#waiting) {
      if (this.#isOpen(waiter.upTo)) continue
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
  }

  /** Resolves when every score that is announced by now is in. */
  settled(): Promise<void> {
    const upTo = this.#generation
    if (!this.#isOpen(upTo)) return Promise.resolve()
    this.#generation += 1
    return new Promise((resolve) => this.#waiting.add({ upTo, resolve }))
  }

  #isOpen(upTo: number): boolean {
    for (const generation of this.#open.keys()) if (generation <= upTo) return true
    return false
  }
}

/**
 * Runs whose scores are not all in. A flush waits for those that were pending when it began: a process that always has some
 * under way would otherwise never be flushed.
 */
export class PendingRuns {
  /** By run, how many flushes had begun when it became pending. Numbers rise in the order of the map. */
  readonly #pending = new Map<object, number>()
  readonly #flushes = new Set<{ readonly number: number; readonly resolve: () => void }>()
  #begun = 0

  /** A score of the run is awaited. */
  add(run: object): void {
    if (!this.#pending.has(run)) this.#pending.set(run, this.#begun)
  }

  /** No score of the run is awaited any more. */
  delete(run: object): void {
    this.#pending.delete(run)
    for (const flush of this.#flushes) {
      if (this.#isAwaited(flush.number)) return
      this.#flushes.delete(flush)
      flush.resolve()
    }
  }

  /** Resolves when the scores of every run that is pending by now are in. */
  settled(): Promise<void> {
    const number = this.#begun
    if (!this.#isAwaited(number)) return Promise.resolve()
    this.#begun += 1
    return new Promise((resolve) => this.#flushes.add({ number, resolve }))
  }

  /** Whether a run is pending that was pending when this flush began. */
  #isAwaited(flush: number): boolean {
    const [earliest] = this.#pending.values()
    return earliest !== undefined && earliest <= flush
  }
}

/**
 * Runs with pending scores. A flush waits for those that were pending when it began; a busy process that always has some would otherwise
 * never finish a flush.
 */
export class PendingRuns<Run extends object = object> {
  /** For each run, how many flushes had begun when it became pending. The numbers increase in map order. */
  readonly #pending = new Map<Run, number>()
  readonly #flushes = new Set<{ readonly number: number; readonly resolve: () => void }>()
  #begun = 0

  /** Records that the run has a pending score. */
  add(run: Run): void {
    if (!this.#pending.has(run)) this.#pending.set(run, this.#begun)
  }

  /** Records that the run has no more pending scores. */
  delete(run: Run): void {
    this.#pending.delete(run)
    for (const flush of this.#flushes) {
      if (this.#isAwaited(flush.number)) return
      this.#flushes.delete(flush)
      flush.resolve()
    }
  }

  /** The runs that are pending now. */
  runs(): readonly Run[] {
    return [...this.#pending.keys()]
  }

  /** Resolves when the scores of all runs that are pending now are in. */
  settled(): Promise<void> {
    const number = this.#begun
    if (!this.#isAwaited(number)) return Promise.resolve()
    this.#begun += 1
    return new Promise((resolve) => this.#flushes.add({ number, resolve }))
  }

  /** Whether any run is pending since before this flush began. */
  #isAwaited(flush: number): boolean {
    const [earliest] = this.#pending.values()
    return earliest !== undefined && earliest <= flush
  }
}

/** Maximum milliseconds of work in one turn of the event loop. */
const SLICE_MS = 20

/** Divides long work into turns of the event loop. */
export class Turn {
  #startMs = performance.now()

  /** Whether this turn has taken long enough. */
  get isOver(): boolean {
    return performance.now() - this.#startMs >= SLICE_MS
  }

  /** Resolves in the next turn. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#startMs = performance.now()
  }
}

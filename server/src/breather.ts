/** Maximum milliseconds of work in one turn of the event loop. */
const SLICE_MS = 20

/** Each step of the work with more spans than this gets a turn of its own. */
const MANY_SPANS = 2000

/** Divides long work into turns of the event loop. */
export class Breather {
  #startMs = performance.now()

  /** Whether this turn has taken long enough. */
  get isOver(): boolean {
    return performance.now() - this.#startMs >= SLICE_MS
  }

  /** Whether the next step of work with so many spans may begin in this turn. Otherwise it waits for the `next` one. */
  hasRoomFor(spans: number): boolean {
    return spans <= MANY_SPANS && !this.isOver
  }

  /** Resolves in the next turn. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#startMs = performance.now()
  }
}

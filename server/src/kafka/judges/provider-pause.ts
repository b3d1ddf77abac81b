const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 15_000

/** Pauses judges while their provider is overloaded or unavailable. */
export class ProviderPause {
  readonly #now: () => number
  #pauseMs = 0
  #untilMs = Number.NEGATIVE_INFINITY

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Milliseconds until judges may be asked again; 0 if they may now. */
  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#now())
  }

  /** A provider could not be asked. It is tried again after the next pause. */
  begin(): void {
    if (this.leftMs > 0) return
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2))
    this.#untilMs = this.#now() + this.#pauseMs
  }

  /** A provider has answered. */
  end(): void {
    this.#pauseMs = 0
    this.#untilMs = Number.NEGATIVE_INFINITY
  }
}

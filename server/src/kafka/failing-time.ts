/** For how long something has failed that is tried again and again. */
export class FailingTime {
  readonly #now: () => number
  #sinceMs: number | undefined

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Milliseconds since the first failure after the last success; 0 if it works. */
  get ms(): number {
    return this.#sinceMs === undefined ? 0 : this.#now() - this.#sinceMs
  }

  failed(): void {
    this.#sinceMs ??= this.#now()
  }

  /** It succeeded, or is no longer needed. */
  ended(): void {
    this.#sinceMs = undefined
  }
}

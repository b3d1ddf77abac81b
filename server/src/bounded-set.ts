/**
 * A set of strings that forgets the oldest ones: it has at least half as many of the latest as its limit, and never more than the limit.
 *
 * There are two generations, and the older one is dropped as a whole. Removing the first entry of a `Set` one at a time is slow: entries that
 * were removed stay in front until the set is rebuilt, and finding the first one passes all of them.
 */
export class BoundedSet {
  readonly #halfLimit: number
  #latest = new Set<string>()
  #earlier = new Set<string>()

  /** @param limit most values, 2 or more */
  constructor(limit: number) {
    this.#halfLimit = Math.floor(limit / 2)
  }

  has(value: string): boolean {
    return this.#latest.has(value) || this.#earlier.has(value)
  }

  /** Adds a value; adding a known one makes it the newest. */
  add(value: string): void {
    this.#latest.add(value)
    if (this.#latest.size < this.#halfLimit) return
    this.#earlier = this.#latest
    this.#latest = new Set()
  }
}

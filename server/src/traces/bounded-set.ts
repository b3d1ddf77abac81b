/** A set of strings that forgets the oldest ones above a limit. */
export class BoundedSet {
  readonly #limit: number
  readonly #values = new Set<string>()

  constructor(limit: number) {
    this.#limit = limit
  }

  has(value: string): boolean {
    return this.#values.has(value)
  }

  /** Adds a value; adding a known one makes it the newest. */
  add(value: string): void {
    this.#values.delete(value)
    this.#values.add(value)
    if (this.#values.size <= this.#limit) return
    for (const oldest of this.#values) {
      this.#values.delete(oldest)
      return
    }
  }
}

/** A set with a maximum size, for values that come from outside if the first ones are enough. */
export class LimitedSet<Value> implements Iterable<Value> {
  readonly #values = new Set<Value>()
  readonly #maxSize: number

  /** @param maxSize most values */
  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  [Symbol.iterator](): Iterator<Value> {
    return this.#values[Symbol.iterator]()
  }

  has(value: Value): boolean {
    return this.#values.has(value)
  }

  /** Adds a value; false if it already exists, or the set is full. */
  add(value: Value): boolean {
    if (this.#values.size >= this.#maxSize || this.#values.has(value)) return false
    this.#values.add(value)
    return true
  }
}

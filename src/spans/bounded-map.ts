/**
 * A map that keeps at most so many entries: what was set first is forgotten first. For what is worth keeping and can be had
 * again: keys come from outside, and have no end.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #maxSize: number

  /** @param maxSize Entries that are kept, 1 or more. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  set(key: Key, value: Value): void {
    if (this.#entries.size >= this.#maxSize && !this.#entries.has(key)) {
      const [oldest] = this.#entries.keys()
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one: the map is full
      this.#entries.delete(oldest as Key)
    }
    this.#entries.set(key, value)
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key)
  }
}

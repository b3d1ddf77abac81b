/**
 * A map with a maximum size: the oldest entry is removed first. Use it as a cache for keys that come from outside and are unbounded.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #maxSize: number

  /** @param maxSize most entries, 1 or more */
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
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the map is full, so it has a first key
      this.#entries.delete(oldest as Key)
    }
    this.#entries.set(key, value)
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key)
  }
}

/**
 * A map with a maximum size, as a cache for keys that come from outside and are unbounded. It keeps the latest entries in two generations:
 * if the newer one is full, the older one is dropped. Removing the oldest entry of one `Map` would take longer with every removed
 * entry, because the search for the first entry passes them.
 */
export class BoundedMap<Key, Value> {
  #newer = new Map<Key, Value>()
  #older = new Map<Key, Value>()
  readonly #generationSize: number

  /** @param maxSize most entries; at least half of them are kept */
  constructor(maxSize: number) {
    this.#generationSize = Math.max(1, Math.floor(maxSize / 2))
  }

  get(key: Key): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key)
  }

  set(key: Key, value: Value): void {
    this.#newer.set(key, value)
    if (this.#newer.size < this.#generationSize) return
    this.#older = this.#newer
    this.#newer = new Map()
  }
}

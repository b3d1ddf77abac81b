/** A cache that creates missing values and drops the least recently used ones. */
export class LatestUsed<Value> {
  readonly #limit: number
  readonly #onDropped: (value: Value) => void
  /** In the order of their last use. */
  readonly #values = new Map<string, Value>()
  /** The most recent value is requested most often. */
  #latest: { readonly key: string; readonly value: Value } | undefined

  /** @param limit most values; above it, the least recently used one is dropped */
  constructor(limit: number, onDropped: (value: Value) => void = () => undefined) {
    this.#limit = limit
    this.#onDropped = onDropped
  }

  values(): Iterable<Value> {
    return this.#values.values()
  }

  get(key: string, create: () => Value): Value {
    if (this.#latest?.key === key) return this.#latest.value
    const known = this.#values.get(key)
    const value = known ?? create()
    this.#latest = { key, value }
    if (known !== undefined) this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > this.#limit) this.#dropOldest()
    return value
  }

  #dropOldest(): void {
    for (const [key, value] of this.#values) {
      this.#values.delete(key)
      this.#onDropped(value)
      return
    }
  }
}

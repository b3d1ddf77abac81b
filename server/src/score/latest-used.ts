/** Values by key, each made when it is first asked for. Those that were used last are kept. */
export class LatestUsed<Value> {
  readonly #limit: number
  readonly #onDropped: (value: Value) => void
  /** The order of the map is the order of the latest use. */
  readonly #values = new Map<string, Value>()
  /** What is asked for is most often what was asked for last. */
  #latest: { readonly key: string; readonly value: Value } | undefined

  /** @param limit Values beyond it give way, the one that was not used for longest first. */
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

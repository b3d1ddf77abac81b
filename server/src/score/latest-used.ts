/** How entries are let go of. */
export interface LatestUsedOptions<Value> {
  /** Entries beyond this give way, the one that was not used for longest first. */
  readonly limit: number
  /** Whether nothing would be lost with an entry now. */
  readonly isIdle: (value: Value) => boolean
  readonly onDropped?: (value: Value) => void
}

/** Values by key, each made when it is first asked for. Those that were used last are kept. */
export class LatestUsed<Value> {
  readonly #options: LatestUsedOptions<Value>
  /** The order of the map is the order of the latest use. */
  readonly #values = new Map<string, Value>()
  /** What is asked for is most often what was asked for last. */
  #latest: { readonly key: string; readonly value: Value } | undefined

  constructor(options: LatestUsedOptions<Value>) {
    this.#options = options
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
    if (known === undefined) this.#giveWay(key)
    return value
  }

  #giveWay(used: string): void {
    const { limit, isIdle, onDropped } = this.#options
    for (const [key, value] of this.#values) {
      if (this.#values.size <= limit) return
      if (key === used || !isIdle(value)) continue
      this.#values.delete(key)
      onDropped?.(value)
    }
  }
}

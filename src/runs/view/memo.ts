const NOTHING: unique symbol = Symbol('nothing')

/** Values that are read at first access and cached, by slot number. */
export class Memo {
  /** An array is several times faster here than a map. `NOTHING` marks a value that was read and is absent. */
  readonly #known: unknown[] = []

  once<T>(slot: number, read: () => T): T {
    const known = this.#known[slot]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each slot is only read by the getter of its name
    if (known !== undefined) return (known === NOTHING ? undefined : known) as T
    const value = read()
    this.#known[slot] = value === undefined ? NOTHING : value
    return value
  }
}

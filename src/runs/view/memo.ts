const NOTHING: unique symbol = Symbol('nothing')

/** Values that are read when they are first asked for, and kept, by the number of their slot. */
export class Memo {
  /** An array is several times faster than a map here. `NOTHING` marks a value that was read and is not there. */
  readonly #known: unknown[] = []

  once<T>(slot: number, read: () => T): T {
    const known = this.#known[slot]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each slot is read by the getter of its name alone
    if (known !== undefined) return (known === NOTHING ? undefined : known) as T
    const value = read()
    this.#known[slot] = value === undefined ? NOTHING : value
    return value
  }
}

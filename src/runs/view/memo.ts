import { frozen } from './frozen.ts'

const NOTHING: unique symbol = Symbol('nothing')

/** A list that grows by itself gets room for twice as many values as are needed. */
const NO_VALUES: readonly unknown[] = Array.from({ length: 32 }, () => undefined)

/** Values that are read at first access and cached, by slot number. */
export class Memo {
  /** An array is several times faster here than a map. `NOTHING` marks a value that was read and is absent. */
  readonly #known: unknown[]

  /** @param slots number of values, 32 at most */
  constructor(slots: number) {
    this.#known = NO_VALUES.slice(0, slots)
  }

  once<T>(slot: number, read: () => T): T {
    const known = this.#known[slot]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each slot is only read by the getter of its name
    if (known !== undefined) return (known === NOTHING ? undefined : known) as T
    const value = read()
    this.#known[slot] = value === undefined ? NOTHING : value
    return value
  }

  /** Like `once`, for values that users see: frozen, because all scorers of a run share them. */
  shared<T>(slot: number, read: () => T): T {
    return this.once(slot, () => frozen(read()))
  }
}

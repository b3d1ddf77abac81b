/** Up to this many ids, a plain `Set` is faster. */
const MAX_IN_SET = 32
/** Must be a power of two. */
const SLOTS = 1024

/**
 * A set of ids. With hundreds of tool calls, a plain `Set` takes half of the time needed to read them, because its
 * table grows and rehashes. The ids of one run mostly differ in their last characters, which therefore select a slot. Only an
 * id whose slot is taken goes into the `Set`. If all ids share one slot, the cost is that of a plain `Set`.
 */
export class KnownIds {
  /** All ids while there are no slots; after that, those whose slot another id holds. */
  #set = new Set<string>()
  #slots: (string | undefined)[] | undefined

  /** Optional hint that this many ids will be added, so that the first ones do not have to move from the set to slots. */
  expect(count: number): void {
    if (count > MAX_IN_SET && this.#slots === undefined) this.#openSlots()
  }

  has(id: string): boolean {
    return this.#slots?.[slotOf(id)] === id || this.#set.has(id)
  }

  /** @returns whether the id is new */
  add(id: string): boolean {
    if (this.#slots !== undefined) {
      const slot = slotOf(id)
      const held = this.#slots[slot]
      if (held === id) return false
      if (held === undefined) {
        this.#slots[slot] = id
        return true
      }
    }
    const { size } = this.#set
    this.#set.add(id)
    if (this.#set.size === size) return false
    if (this.#slots === undefined && size === MAX_IN_SET) this.#openSlots()
    return true
  }

  #openSlots(): void {
    const ids = this.#set
    this.#set = new Set()
    this.#slots = []
    this.#slots.length = SLOTS
    for (const id of ids) this.add(id)
  }
}

/** The last three characters: counters fill slots one after the other, random ids spread over them. */
function slotOf(id: string): number {
  const last = id.length - 1
  if (last < 2) return 0
  return (id.charCodeAt(last) + 10 * id.charCodeAt(last - 1) + 100 * id.charCodeAt(last - 2)) & (SLOTS - 1)
}

/** Times that are closer to each other than this count as the same, in milliseconds. */
const GRAIN_MS = 100

/** Things that are due at a time: each has one time, which may be changed. Setting and taking cost the same however many there are. */
export class DueTimes<T extends object> {
  readonly #slots = new Map<number, Set<T>>()
  readonly #slotOf = new Map<T, number>()
  #nextSlot = Number.POSITIVE_INFINITY

  /** Sets, or changes, when something is due. */
  set(item: T, dueMs: number): void {
    const slot = Math.ceil(dueMs / GRAIN_MS)
    const known = this.#slotOf.get(item)
    if (known === slot) return
    if (known !== undefined) this.#slots.get(known)?.delete(item)
    this.#slotOf.set(item, slot)
    const items = this.#slots.get(slot)
    if (items === undefined) this.#slots.set(slot, new Set([item]))
    else items.add(item)
    this.#nextSlot = Math.min(this.#nextSlot, slot)
  }

  delete(item: T): void {
    const slot = this.#slotOf.get(item)
    if (slot === undefined) return
    this.#slotOf.delete(item)
    this.#slots.get(slot)?.delete(item)
  }

  /** Takes out what is due by now, the earliest first. */
  take(nowMs: number): T[] {
    const last = Math.floor(nowMs / GRAIN_MS)
    if (this.#nextSlot > last) return []
    const slots = [...this.#slots.keys()].filter((slot) => slot <= last).toSorted((left, right) => left - right)
    const taken: T[] = []
    for (const slot of slots) {
      for (const item of this.#slots.get(slot) ?? []) {
        taken.push(item)
        this.#slotOf.delete(item)
      }
      this.#slots.delete(slot)
    }
    this.#nextSlot = last + 1
    return taken
  }
}

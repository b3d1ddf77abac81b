/** Times that are closer to each other than this count as the same, in milliseconds. */
const GRAIN_MS = 100

/** Something that is due at a time. */
export interface DueItem {
  /** The number of the interval in which it is due; `undefined` while it is not in `DueTimes`, which alone writes it. */
  dueSlot: number | undefined
}

/** Things that are due at a time: each has one time, which may be changed. Setting and taking cost the same however many there are. */
export class DueTimes<T extends DueItem> {
  readonly #slots = new Map<number, Set<T>>()
  #nextSlot = Number.POSITIVE_INFINITY

  /** Sets, or changes, when something is due. */
  set(item: T, dueMs: number): void {
    const slot = Math.ceil(dueMs / GRAIN_MS)
    // This is called for each span, and most come together with another one of their run.
    if (item.dueSlot === slot) return
    this.delete(item)
    item.dueSlot = slot
    const items = this.#slots.get(slot)
    if (items === undefined) this.#slots.set(slot, new Set([item]))
    else items.add(item)
    this.#nextSlot = Math.min(this.#nextSlot, slot)
  }

  delete(item: T): void {
    if (item.dueSlot === undefined) return
    this.#slots.get(item.dueSlot)?.delete(item)
    item.dueSlot = undefined
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
        item.dueSlot = undefined
      }
      this.#slots.delete(slot)
    }
    this.#nextSlot = last + 1
    return taken
  }
}

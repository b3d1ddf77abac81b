/** Times within this many milliseconds count as equal. */
const GRAIN_MS = 100

/** Something with a due time. */
export interface DueItem {
  /** The number of its due interval; `undefined` outside of `DueTimes`, which alone writes it. */
  dueSlot: number | undefined
}

/** Items with one changeable due time each. Setting and taking are O(1). */
export class DueTimes<T extends DueItem> {
  readonly #slots = new Map<number, Set<T>>()
  #nextSlot = Number.POSITIVE_INFINITY

  /** Sets or changes an item's due time. */
  set(item: T, dueMs: number): void {
    const slot = Math.ceil(dueMs / GRAIN_MS)
    if (item.dueSlot === slot) return
    this.delete(item)
    item.dueSlot = slot
    const items = this.#slots.get(slot)
    if (items === undefined) this.#slots.set(slot, new Set([item]))
    else items.add(item)
    this.#nextSlot = Math.min(this.#nextSlot, slot)
  }

  /** Sets an item's due time, unless it is due earlier. */
  atLatest(item: T, dueMs: number): void {
    if (item.dueSlot === undefined || item.dueSlot * GRAIN_MS > dueMs) this.set(item, dueMs)
  }

  delete(item: T): void {
    if (item.dueSlot === undefined) return
    this.#slots.get(item.dueSlot)?.delete(item)
    item.dueSlot = undefined
  }

  /** Removes and returns the due items, earliest first. */
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

import type { TraceBufferOptions } from './trace-buffer-options.ts'
import type { TracePlace } from './trace-place.ts'
import type { Unit } from './unit.ts'

/**
 * Units with model calls outside of agents' runs. More calls may follow: below an open span around them until it ends, in a trace of their
 * own until no more has arrived for a while.
 */
export class WaitingUnits {
  readonly #options: Pick<TraceBufferOptions, 'now' | 'onWaiting'>
  /** Units that wait for a pause: since when. Those that have waited longest come first. */
  readonly #pausing = new Map<Unit, number>()
  /** Units that wait for the end of a span around them. */
  readonly #around = new Map<TracePlace, Set<Unit>>()
  /** Units whose surrounding span has ended. They are laid out in a later turn, because another root of the trace may begin. */
  readonly #freed = new Set<Unit>()

  constructor(options: Pick<TraceBufferOptions, 'now' | 'onWaiting'>) {
    this.#options = options
  }

  get size(): number {
    return this.#pausing.size + this.#freed.size
  }

  /** When the next unit is due that waits for a pause of so many milliseconds; `undefined` if none does. */
  nextMs(pauseMs: number): number | undefined {
    if (this.#freed.size > 0) return this.#options.now()
    for (const sinceMs of this.#pausing.values()) return sinceMs + pauseMs
    return undefined
  }

  /** A unit waits for a pause from now on. */
  pause(unit: Unit): void {
    this.#pausing.delete(unit)
    this.#pausing.set(unit, this.#options.now())
    this.#options.onWaiting()
  }

  /** Must be called when a unit goes on, or is finished. */
  leave(unit: Unit): void {
    this.#pausing.delete(unit)
    this.#freed.delete(unit)
    const { around } = unit
    if (around === undefined) return
    unit.around = undefined
    const units = this.#around.get(around)
    units?.delete(unit)
    if (units?.size === 0) this.#around.delete(around)
  }

  /** A unit is laid out in a later turn. */
  free(unit: Unit): void {
    this.#freed.add(unit)
    this.#options.onWaiting()
  }

  /** Makes a unit wait for the outermost open span around it, if there is one. */
  waitsAround(unit: Unit): boolean {
    for (const root of unit.roots) {
      // The spans above a lost parent are not known.
      if (root.isLost) continue
      const first = root.isOpen ? root : outermostOpen(root)
      if (first === undefined || first.span !== undefined) continue
      first.isAwaited = true
      unit.around = first
      const units = this.#around.get(first)
      if (units === undefined) this.#around.set(first, new Set([unit]))
      else units.add(unit)
      return true
    }
    return false
  }

  /** The units that waited for the end of a span. */
  around(place: TracePlace): Iterable<Unit> {
    const units = this.#around.get(place)
    this.#around.delete(place)
    return units ?? []
  }

  /** Takes the units that are due: all that have waited since before that time, and those whose surrounding span has ended. */
  take(beforeMs: number): Unit[] {
    const due = [...this.#freed].filter((unit) => !unit.isDone && unit.open === 0 && !this.waitsAround(unit))
    this.#freed.clear()
    for (const [unit, sinceMs] of this.#pausing) {
      if (sinceMs > beforeMs) break
      this.#pausing.delete(unit)
      due.push(unit)
    }
    return due
  }
}

/** The outermost open span of this process above a place. */
function outermostOpen(place: TracePlace): TracePlace | undefined {
  let found: TracePlace | undefined
  for (let { above } = place; above !== undefined; above = above.above) if (above.isOpen) found = above
  return found
}

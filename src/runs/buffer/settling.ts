import { layOut } from './lay-out.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { spansOf } from './ended-run.ts'
import type { HandingOver } from './handing-over.ts'
import { readForLayout } from './read-ahead.ts'
import type { PlacedSpan } from './trace-place.ts'
import type { Unit } from './unit.ts'
import type { Units } from './units.ts'
import type { WaitingUnits } from './waiting-units.ts'

/** Units without an agent that are laid out together, and others beside them whose runs they may share. */
const MAX_TOGETHER = 256
const MAX_BESIDE = 64

/** The parts of the buffer that settling needs. */
export interface SettlingParts {
  readonly units: Units
  readonly handingOver: HandingOver
  readonly waiting: WaitingUnits
  /** Forgets a unit. */
  readonly finish: (unit: Unit) => void
}

/** Makes the runs of whole units final, with those that no agent started. */
export class Settling {
  readonly #parts: SettlingParts

  constructor(parts: SettlingParts) {
    this.#parts = parts
  }

  /** Lays out units whose calls without an agent have waited long enough, some at a time. */
  *settle(units: readonly Unit[], isLast = false): Generator<undefined, void> {
    for (let at = 0; at < units.length; at += MAX_TOGETHER) {
      yield* this.settleTogether(units.slice(at, at + MAX_TOGETHER), isLast)
      yield* this.#parts.handingOver.passOn()
    }
  }

  /** Lays out some units, with all others that their runs may share. Does not pass on their runs. */
  *settleTogether(units: readonly Unit[], isLast = false): Generator<undefined, void> {
    const { handingOver, waiting, finish } = this.#parts
    const isDue = (unit: Unit): boolean => !unit.isDone && (isLast || unit.open === 0)
    for (const unit of units) {
      if (unit.isWanted || !isDue(unit)) continue
      if (unit.candidates.size > 0) handingOver.final(layOut(unit.roots), false)
      if (unit.work > 0) handingOver.unwanted(unit)
      if (unit.open === 0) finish(unit)
    }
    const asked = new Set(units.filter((unit) => unit.isWanted && isDue(unit)))
    if (asked.size === 0) return
    const all = new Set(asked)
    for (const unit of this.#parts.units) {
      if (all.size >= asked.size + MAX_BESIDE) break
      if (unit.work > 0 && unit.isWanted) all.add(unit)
    }
    for (const unit of all) yield* readForLayout(workOf(unit))
    const due = new Set([...asked].filter(isDue))
    const roots = [...all].flatMap((unit) => (unit.isDone ? [] : [...unit.roots]))
    const plans = layOut(roots, { known: handingOver.knownBeside(all), onDuplicate: handingOver.duplicate })
    // A run that another unit shares waits for that.
    const later = new Set<Unit>()
    const ready = plans.filter((plan) => {
      const shared = this.#unitsOf(plan)
      if (!shared.some((unit) => due.has(unit))) return false
      const isReady = shared.every((unit) => due.has(unit))
      if (!isReady) for (const unit of shared) later.add(unit)
      return isReady
    })
    handingOver.final(ready, true)
    for (const unit of due) {
      if (later.has(unit)) waiting.pause(unit)
      else if (unit.open === 0) finish(unit)
    }
  }

  /** The units with spans of a run. */
  #unitsOf(plan: RunPlan): readonly Unit[] {
    const found = new Set<Unit>()
    for (const { span } of spansOf(plan)) {
      const unit = this.#parts.units.get(span.traceId)
      if (unit !== undefined) found.add(unit)
    }
    return [...found]
  }
}

/** The spans whose content a layout reads: those of model calls without an agent, and of libraries that write all spans side by side. */
function* workOf({ byId }: Unit): Generator<PlacedSpan> {
  for (const { span } of byId.values()) if (span !== undefined && !span.isOpen && !span.isCovered) yield span
}

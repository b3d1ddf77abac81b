import type { SourceLog } from '../../spans/source-span.ts'
import { bytesOfMoreLogs, takeLog, takeSpan } from './content-bytes.ts'
import type { PlacedSpan } from './trace-place.ts'
import type { TraceBufferOptions } from './trace-buffer-options.ts'
import { Unit } from './unit.ts'

type UnitsOptions = Pick<TraceBufferOptions, 'memoryBytes' | 'maxIdleMs' | 'now' | 'isWanted' | 'onWaiting'>

/** All units, those first in which nothing has happened for longest, and what they hold together. */
export class Units implements Iterable<Unit> {
  readonly #options: UnitsOptions
  readonly #units = new Map<string, Unit>()
  /** The ends of the list of all units. Finding the first entry of a map takes long if many before it were removed. */
  #oldest: Unit | undefined
  #latest: Unit | undefined
  /** The unit whose open spans are measured next. */
  #measured: Unit | undefined
  #heldBytes = 0
  #openRuns = 0

  constructor(options: UnitsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#units.size
  }

  /** Estimated bytes in memory. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Runs that have begun and are not final. */
  get openRuns(): number {
    return this.#openRuns
  }

  get(traceId: string): Unit | undefined {
    return this.#units.get(traceId)
  }

  /** The unit of a trace, which begins if there is none. */
  of(traceId: string): Unit {
    const known = this.#units.get(traceId)
    if (known !== undefined) {
      this.#touch(known)
      return known
    }
    this.#measureNext()
    const unit = new Unit(traceId, this.#options.isWanted(traceId), this.#options.now())
    this.#units.set(traceId, unit)
    this.#append(unit)
    if (this.#oldest === unit) this.#options.onWaiting()
    return unit
  }

  [Symbol.iterator](): Iterator<Unit> {
    return this.#units.values()
  }

  get oldest(): Unit | undefined {
    return this.#oldest
  }

  /** Whether the units hold too much. */
  get isOverBounds(): boolean {
    return this.#heldBytes > this.#options.memoryBytes
  }

  /** When nothing has happened for too long in the first unit. */
  get tooIdleMs(): number | undefined {
    return this.#oldest && this.#oldest.activeMs + this.#options.maxIdleMs
  }

  /** Must be called when a recognised span has begun. */
  add(unit: Unit, span: PlacedSpan): void {
    if (span.outermost === span) {
      unit.tops.add(span)
      this.#openRuns += 1
    }
    if (span.sdk === undefined) return
    span.ownBytes = takeSpan(span.sdk).heldBytes
    this.#count(unit, span, span.ownBytes)
  }

  /** Must be called when a recognised span is ending. It is final from now on. */
  end(unit: Unit, span: PlacedSpan): void {
    this.#touch(unit)
    if (span.sdk === undefined) return
    const taken = takeSpan(span.sdk)
    span.end(taken)
    span.contentBytes += taken.contentBytes
    this.#count(unit, span, taken.heldBytes - span.ownBytes)
  }

  addLog(unit: Unit, span: PlacedSpan, log: SourceLog): void {
    const taken = takeLog(log)
    span.addLog(taken.log)
    span.contentBytes += taken.contentBytes + bytesOfMoreLogs(span.logCount)
    this.#count(unit, span, taken.heldBytes)
  }

  /** A run with this outermost span is final, or given up. */
  close(unit: Unit, top: PlacedSpan): void {
    if (unit.tops.delete(top)) this.#openRuns -= 1
  }

  /** Drops the oldest final runs of a unit that goes on. */
  forgetFinal(unit: Unit): void {
    unit.forgetFinal((span) => this.#count(unit, span, -span.heldBytes))
  }

  /** Forgets a unit. */
  finish(unit: Unit): void {
    if (unit.isDone) return
    this.#units.delete(unit.traceId)
    this.#unlink(unit)
    this.#heldBytes -= unit.heldBytes
    this.#openRuns -= unit.tops.size
    unit.finish()
  }

  /** Something has happened in a unit. */
  #touch(unit: Unit): void {
    unit.activeMs = this.#options.now()
    if (this.#latest === unit) return
    this.#unlink(unit)
    this.#append(unit)
  }

  #append(unit: Unit): void {
    unit.older = this.#latest
    unit.newer = undefined
    if (this.#latest === undefined) this.#oldest = unit
    else this.#latest.newer = unit
    this.#latest = unit
  }

  #unlink(unit: Unit): void {
    const { older, newer } = unit
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#latest = older
    else newer.older = older
  }

  /** Spans get attributes while they are open. With each new unit, the outermost spans of another one are measured again. */
  #measureNext(): void {
    const unit = this.#measured?.isDone === false ? this.#measured : this.#oldest
    if (unit === undefined) return
    this.#measured = unit.newer
    for (const top of unit.tops) {
      if (!top.isOpen || top.sdk === undefined) continue
      const bytes = Math.max(top.ownBytes, takeSpan(top.sdk).heldBytes)
      this.#count(unit, top, bytes - top.ownBytes)
      top.ownBytes = bytes
    }
  }

  /** Counts that a span, or something of it, is in memory. */
  #count(unit: Unit, span: PlacedSpan, bytes: number): void {
    span.heldBytes += bytes
    unit.heldBytes += bytes
    this.#heldBytes += bytes
  }
}

import type { TraceBufferOptions } from './buffer-options.ts'
import { DueTimes } from './due-times.ts'
import { HeldContents } from './held-contents.ts'
import { anchorOf } from './held-span.ts'
import type { HeldLog, HeldSpan, RunUnit } from './held-span.ts'
import { createTrace, disconnect } from './held-trace.ts'
import type { HeldTrace } from './held-trace.ts'
import { canBePacked, packedPlaces, packTrace, spanCountOf, unitCountOf, unpackTrace } from './packed-trace.ts'
import type { PackedTrace } from './packed-trace.ts'
import { addToUnit, createUnit, mergeUnits } from './run-unit.ts'

/** Spans of a trace that are no longer needed. */
export interface FinishedSpans {
  readonly traceId: string
  readonly spans: Iterable<FinishedSpan>
  /** The number of their units. */
  readonly units: number
}

type FinishedSpan = Pick<HeldSpan, 'spanId' | 'offset' | 'index'> & { readonly logs?: readonly HeldLog[] | undefined }

/** Above this share of `maxSpans`, scored runs are dropped to make room. */
const LINGERING_SHARE = 0.8

/** The held traces, their units, and when each unit is due for a check. */
export class HeldUnits {
  readonly #options: TraceBufferOptions
  readonly #traces = new Map<string, HeldTrace>()
  /** Traces that only wait for late spans. */
  readonly #packed = new Map<string, PackedTrace>()
  /** Traces with a unit that was scored since traces were last packed. */
  readonly #toPack = new Set<HeldTrace>()
  /** Request bodies. Log records that wait for their span are held by their trace. */
  readonly contents: HeldContents<RunUnit | HeldTrace>
  readonly #due = new DueTimes<RunUnit>()
  readonly #packedDue = new DueTimes<PackedTrace>()
  /** Scored units, in the order of their scoring, and traces of such units. */
  readonly #lingering = new Set<RunUnit | PackedTrace>()
  #spans = 0

  constructor(options: TraceBufferOptions) {
    this.#options = options
    this.contents = new HeldContents({
      get maxBytes() {
        return options.maxContentBytes
      },
      usualMs: 2 * options.settleMs,
    })
  }

  /** Spans in all units. */
  get spans(): number {
    return this.#spans
  }

  /** How many traces there are. */
  get traces(): number {
    return this.#traces.size + this.#packed.size
  }

  /** The trace with an id, which is created if missing. */
  traceOf(traceId: string): HeldTrace {
    const known = this.#traces.get(traceId)
    if (known !== undefined) return known
    const packed = this.#packed.get(traceId)
    if (packed !== undefined) return this.#unpack(packed)
    const trace = createTrace(traceId)
    this.#traces.set(traceId, trace)
    return trace
  }

  /** The unpacked traces with spans in records up to an offset. */
  *tracesUpTo(offset: number): Iterable<HeldTrace> {
    for (const packed of this.#packed.values()) {
      for (const span of packedPlaces(packed)) {
        if (span.offset > offset) continue
        this.#unpack(packed)
        break
      }
    }
    for (const trace of this.#traces.values()) {
      this.#mergeConnected(trace)
      yield trace
    }
  }

  /** Packs the traces that only wait for late spans. */
  pack(): void {
    for (const trace of this.#toPack) {
      if (this.#traces.get(trace.traceId) !== trace) continue
      this.#mergeConnected(trace)
      if (trace.units.size > 0 && canBePacked(trace)) this.#pack(trace)
    }
    this.#toPack.clear()
  }

  /** Adds a connected span to its unit. */
  place(trace: HeldTrace, span: HeldSpan, nowMs: number, state: 'open' | 'emitted'): RunUnit {
    const anchor = anchorOf(span)
    let { unit } = anchor
    if (unit === undefined) {
      unit = createUnit(trace.traceId, anchor, nowMs, state)
      anchor.unit = unit
      trace.units.add(unit)
    }
    addToUnit(unit, span, nowMs)
    this.#spans += 1
    return unit
  }

  /** A span of the unit arrived: it is open, and waits from now on. */
  reopen(unit: RunUnit, nowMs: number): void {
    unit.lastSeenMs = Math.max(unit.lastSeenMs, nowMs)
    if (unit.state === 'emitted') {
      unit.state = 'open'
      this.#lingering.delete(unit)
    }
    this.lookAt(unit, unit.lastSeenMs + this.#options.settleMs)
  }

  /** Sets when a unit is due. */
  lookAt(unit: RunUnit, dueMs: number): void {
    this.#due.set(unit, dueMs)
  }

  /** The due units, each with its trace. */
  *takeDue(nowMs: number): Iterable<readonly [HeldTrace, RunUnit]> {
    for (const unit of this.#due.take(nowMs)) {
      const trace = this.#traces.get(unit.traceId)
      if (trace === undefined || !trace.units.has(unit)) continue
      this.#mergeConnected(trace)
      if (trace.units.has(unit)) yield [trace, unit]
    }
  }

  /** The unit is being scored. */
  hand(unit: RunUnit): void {
    unit.state = 'settling'
    this.#lingering.delete(unit)
  }

  /** The unit was scored. Its place is kept for late spans. */
  linger(unit: RunUnit, nowMs: number): void {
    unit.state = 'emitted'
    this.contents.drop(unit)
    this.#lingering.add(unit)
    unit.lingersUntilMs = nowMs + this.#options.lingerMs
    this.lookAt(unit, unit.lingersUntilMs)
    const trace = this.#traces.get(unit.traceId)
    if (trace === undefined) return
    this.#toPack.add(trace)
    if (trace.loose !== undefined) trace.loose.isStale = true
  }

  /** Packed traces that have waited long enough for late spans. */
  takeOver(nowMs: number): readonly FinishedSpans[] {
    const over = this.#packedDue.take(nowMs)
    for (const packed of over) this.#forgetPacked(packed)
    return over.map(finishedOf)
  }

  /** The unit is no longer needed. Units of the trace that are connected were merged before: spans of others find what is above them without it. */
  finish(trace: HeldTrace, unit: RunUnit): FinishedSpans {
    unit.state = 'finished'
    this.contents.drop(unit)
    this.#forget(trace, unit)
    this.#spans -= unit.spans.length
    for (const span of unit.spans) disconnect(trace, span)
    this.forgetEmpty(trace)
    return { traceId: unit.traceId, spans: unit.spans, units: 1 }
  }

  /** Removes an empty trace. */
  forgetEmpty(trace: HeldTrace): void {
    if (trace.units.size > 0 || trace.looseLogs.size > 0) return
    this.contents.drop(trace)
    this.#traces.delete(trace.traceId)
  }

  /** If too many spans are held, the units that were scored first stop waiting for late spans. @returns what is finished */
  giveWay(): readonly FinishedSpans[] {
    const limit = this.#options.maxSpans * LINGERING_SHARE
    const finished: FinishedSpans[] = []
    for (const scored of this.#lingering) {
      if (this.#spans <= limit) break
      this.#lingering.delete(scored)
      if ('ids' in scored) {
        this.#forgetPacked(scored)
        finished.push(finishedOf(scored))
        continue
      }
      const trace = this.#traces.get(scored.traceId)
      if (trace === undefined) continue
      this.#mergeConnected(trace)
      if (scored.state === 'emitted' && trace.units.has(scored)) finished.push(this.finish(trace, scored))
    }
    return finished
  }

  #pack(trace: HeldTrace): void {
    const packed = packTrace(trace)
    this.#traces.delete(trace.traceId)
    this.contents.drop(trace)
    for (const unit of trace.units) {
      this.#lingering.delete(unit)
      this.#due.delete(unit)
    }
    this.#packed.set(trace.traceId, packed)
    this.#lingering.add(packed)
    this.#packedDue.set(packed, packed.lingersUntilMs)
  }

  #unpack(packed: PackedTrace): HeldTrace {
    const trace = unpackTrace(packed)
    this.#packed.delete(packed.traceId)
    this.#lingering.delete(packed)
    this.#packedDue.delete(packed)
    this.#traces.set(trace.traceId, trace)
    this.#toPack.add(trace)
    for (const unit of trace.units) {
      this.#lingering.add(unit)
      this.lookAt(unit, unit.lingersUntilMs)
    }
    return trace
  }

  #forgetPacked(packed: PackedTrace): void {
    this.#packed.delete(packed.traceId)
    this.#lingering.delete(packed)
    this.#packedDue.delete(packed)
    this.#spans -= spanCountOf(packed)
  }

  /** Units whose outermost span got a parent are merged into the unit above. */
  #mergeConnected(trace: HeldTrace): void {
    if (!trace.isChanged) return
    trace.isChanged = false
    for (const unit of trace.units) {
      const anchor = anchorOf(unit.top)
      const into = anchor.unit
      if (anchor === unit.top || into === undefined || into === unit) continue
      mergeUnits(unit, into)
      this.contents.move(unit, into)
      unit.top.unit = undefined
      this.#forget(trace, unit)
      if (unit.state !== 'emitted' || into.state !== 'emitted') this.reopen(into, into.lastSeenMs)
    }
  }

  #forget(trace: HeldTrace, unit: RunUnit): void {
    trace.units.delete(unit)
    this.#lingering.delete(unit)
    this.#due.delete(unit)
  }
}

function finishedOf(packed: PackedTrace): FinishedSpans {
  return {
    traceId: packed.traceId,
    spans: { [Symbol.iterator]: () => packedPlaces(packed) },
    units: unitCountOf(packed),
  }
}

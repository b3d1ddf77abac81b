import type { TraceBufferOptions } from './buffer-options.ts'
import { DueTimes } from './due-times.ts'
import { HeldContents } from './held-contents.ts'
import { anchorOf } from './held-span.ts'
import type { HeldSpan } from './held-span.ts'
import { createTrace, disconnect } from './held-trace.ts'
import type { HeldTrace } from './held-trace.ts'
import { addToUnit, createUnit, mergeUnits } from './run-unit.ts'
import type { RunUnit } from './run-unit.ts'

/** Share of `maxSpans` above which scored runs give way, so that there is room for what comes. */
const LINGERING_SHARE = 0.8

/** The traces that are held, the units of each, and when each unit is to be looked at. */
export class HeldUnits {
  readonly #options: TraceBufferOptions
  readonly traces = new Map<string, HeldTrace>()
  /** Bodies of requests; log records that wait for their span are held by their trace. */
  readonly contents: HeldContents<RunUnit | HeldTrace>
  readonly #due = new DueTimes<RunUnit>()
  /** Units that were scored, in the order in which they were. */
  readonly #lingering = new Set<RunUnit>()
  #spans = 0

  constructor(options: TraceBufferOptions) {
    this.#options = options
    this.contents = new HeldContents(options.maxContentBytes)
  }

  /** Spans in all units. */
  get spans(): number {
    return this.#spans
  }

  /** The trace with an id, which is added where there is none. */
  traceOf(traceId: string): HeldTrace {
    let trace = this.traces.get(traceId)
    if (trace === undefined) {
      trace = createTrace(traceId)
      this.traces.set(traceId, trace)
    }
    return trace
  }

  /** Puts a span that is connected into the unit that it belongs to. */
  place(trace: HeldTrace, span: HeldSpan, nowMs: number, state: 'open' | 'emitted'): RunUnit {
    const anchor = anchorOf(span, this.#options.maxSpansPerTrace)
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
    if (unit.state !== 'settling') unit.state = 'open'
    this.#lingering.delete(unit)
    this.lookAt(unit, unit.lastSeenMs + this.#options.settleMs)
  }

  /** Sets when a unit is due. */
  lookAt(unit: RunUnit, dueMs: number): void {
    this.#due.set(unit, dueMs)
  }

  /** The units that are due, each with its trace. */
  *takeDue(nowMs: number): Iterable<readonly [HeldTrace, RunUnit]> {
    for (const unit of this.#due.take(nowMs)) {
      const trace = this.traces.get(unit.traceId)
      if (trace === undefined || !trace.units.has(unit)) continue
      this.#mergeConnected(trace)
      if (trace.units.has(unit)) yield [trace, unit]
    }
  }

  /** The unit is with the scorers. */
  hand(unit: RunUnit): void {
    unit.state = 'settling'
    this.#lingering.delete(unit)
  }

  /** The unit was scored: its place is kept for late spans. */
  linger(unit: RunUnit, nowMs: number): void {
    unit.state = 'emitted'
    this.contents.drop(unit)
    this.#lingering.add(unit)
    this.lookAt(unit, nowMs + this.#options.lingerMs)
  }

  /** Nothing of the unit is needed any more. */
  finish(trace: HeldTrace, unit: RunUnit): void {
    unit.state = 'finished'
    this.contents.drop(unit)
    this.#forget(trace, unit)
    this.#spans -= unit.spans.length
    for (const span of unit.spans) disconnect(trace, span)
    this.forgetEmpty(trace)
  }

  /** Forgets a trace of which nothing is held. */
  forgetEmpty(trace: HeldTrace): void {
    if (trace.units.size > 0 || trace.looseLogs.size > 0) return
    this.contents.drop(trace)
    this.traces.delete(trace.traceId)
  }

  /** Many spans are held: the units that were scored first wait no longer for late spans. @returns What is finished */
  giveWay(): readonly RunUnit[] {
    const limit = this.#options.maxSpans * LINGERING_SHARE
    const finished: RunUnit[] = []
    for (const unit of this.#lingering) {
      if (this.#spans <= limit) break
      const trace = this.traces.get(unit.traceId)
      this.#lingering.delete(unit)
      if (trace === undefined || unit.state !== 'emitted') continue
      this.finish(trace, unit)
      finished.push(unit)
    }
    return finished
  }

  /** Units whose outermost span got a parent belong to the unit of what is above it. */
  #mergeConnected(trace: HeldTrace): void {
    if (!trace.isChanged) return
    trace.isChanged = false
    for (const unit of trace.units) {
      const anchor = anchorOf(unit.top, this.#options.maxSpansPerTrace)
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

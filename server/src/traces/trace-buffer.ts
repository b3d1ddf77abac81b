import type { SourceLog, SourceSpan } from 'spanscore/engine'

import type { DecodedRecord, SpanBytes } from '../log/span-log.ts'
import { EMITTED, FINISHED } from '../log/record-states.ts'
import { BoundedSet } from './bounded-set.ts'
import type { TraceBufferCounts, TraceBufferOptions } from './buffer-options.ts'
import { DueTimes } from './due-times.ts'
import { HeldContents } from './held-contents.ts'
import { anchorOf, toHeldSpan } from './held-span.ts'
import type { HeldLog, HeldSpan, SpanPlace } from './held-span.ts'
import { connect, createTrace, disconnect } from './held-trace.ts'
import type { HeldTrace } from './held-trace.ts'
import { LooseLogs } from './loose-logs.ts'
import { addToUnit, createUnit, mergeUnits } from './run-unit.ts'
import type { RunUnit } from './run-unit.ts'
import { isDangling, whenDue } from './when-due.ts'

/** Spans that are ready to be put together. */
export interface SettledSpans {
  readonly traceId: string
  readonly units: readonly RunUnit[]
  readonly spans: readonly HeldSpan[]
  /** Whether spans of the trace were left out over a limit. */
  readonly lacksSpans: boolean
}

/** What is due at a time. */
export interface Due {
  readonly settled: readonly SettledSpans[]
  /** Units of which nothing is needed any more. */
  readonly finished: readonly RunUnit[]
  /** Log records whose span never arrived. */
  readonly freed: readonly SpanPlace[]
}

/** Share of `maxSpans` above which scored runs give way, so that there is room for what comes. */
const LINGERING_SHARE = 0.8

/** Traces of which it is remembered that a run of theirs is finished. */
const MAX_FINISHED = 200_000

/**
 * The spans of traces that are not finished, and when each run of them is complete: nothing of an agent's subtree has arrived
 * for `settleMs`, and no span that may belong to it still waits for its parent. A missing parent above the outermost agent does
 * not count. Time is the time of the log, never the senders'.
 */
export class TraceBuffer {
  readonly #options: TraceBufferOptions
  readonly #traces = new Map<string, HeldTrace>()
  readonly #due = new DueTimes<RunUnit>()
  readonly #looseLogs = new LooseLogs()
  readonly #finished = new BoundedSet(MAX_FINISHED)
  readonly #contents: HeldContents
  /** Units that were scored, in the order in which they were. */
  readonly #lingering = new Set<RunUnit>()
  readonly counts: TraceBufferCounts = { late: 0, overLimit: 0, expired: 0, cutShort: 0 }
  #heldSpans = 0

  constructor(options: TraceBufferOptions) {
    this.#options = options
    this.#contents = new HeldContents(options.maxContentBytes)
  }

  /** Spans whose place in their trace is held. */
  get heldSpans(): number {
    return this.#heldSpans
  }

  /** Bytes of content in memory, as an estimate. */
  get contentBytes(): number {
    return this.#contents.bytes
  }

  /** Whether so many spans wait for their run to be complete, or scored, that no more should be added. */
  get isFull(): boolean {
    return this.#heldSpans >= this.#options.maxSpans
  }

  /** Traces of which anything is held. */
  get traces(): number {
    return this.#traces.size
  }

  /**
   * Takes in one record of the log.
   *
   * @param stateOf The state of each span and log record of it, by index.
   * @param nowMs The time of the log.
   * @returns The indexes of what is not held: it is not needed, or is held already.
   */
  add(
    offset: number,
    { spans, logs, bytes }: DecodedRecord,
    nowMs: number,
    stateOf: (index: number) => number = () => 0,
  ): readonly number[] {
    const left: number[] = []
    for (const [index, span] of spans.entries()) {
      const state = stateOf(index)
      const isHeld =
        span !== undefined &&
        state !== FINISHED &&
        this.#addSpan(span, { offset, index }, bytes, nowMs, state === EMITTED)
      if (!isHeld) left.push(index)
    }
    for (const [position, log] of logs.entries()) {
      const index = spans.length + position
      const isWanted = log !== undefined && stateOf(index) !== FINISHED
      if (!isWanted || !this.#addLog(log, { offset, index, content: log }, nowMs)) left.push(index)
    }
    return left
  }

  /** What is due at a time of the log. Each unit that is given is to be handed to `emitted` once its scores are out. */
  settle(nowMs: number): Due {
    const settled: SettledSpans[] = []
    const finished: RunUnit[] = []
    const loose = this.#looseLogs.take(nowMs)
    for (const trace of loose.traces) this.#forgetEmpty(trace)
    for (const unit of this.#due.take(nowMs)) {
      const trace = this.#traces.get(unit.traceId)
      if (trace === undefined || !trace.units.has(unit)) continue
      this.#mergeConnected(trace)
      if (!trace.units.has(unit)) continue
      if (unit.state === 'emitted') this.#finishDue(trace, unit, nowMs, finished)
      else if (unit.state === 'open') this.#settleDue(trace, unit, nowMs, settled, finished)
    }
    this.#giveWay(finished)
    return { settled, finished, freed: loose.places }
  }

  /**
   * Gives up runs with spans in records up to an offset, scored or not. What is with the scorers is left alone.
   *
   * @returns Units of which nothing is needed any more.
   */
  expire(offset: number): readonly RunUnit[] {
    const finished: RunUnit[] = []
    for (const trace of this.#traces.values()) {
      for (const unit of trace.units) {
        if (unit.state === 'settling' || !unit.spans.some((span) => span.offset <= offset)) continue
        if (unit.state === 'open') this.counts.expired += unit.spans.length
        this.#finish(trace, unit, finished)
      }
    }
    return finished
  }

  /** These spans were put before the scorers: their content is not needed in memory any more. */
  scored({ units }: SettledSpans): void {
    for (const unit of units) this.#contents.drop(unit)
  }

  /** The scores of these spans were acknowledged: their place is kept for late spans. */
  emitted({ traceId, units, spans }: SettledSpans, nowMs: number): void {
    this.#finished.add(traceId)
    for (const span of spans) span.isEmitted = true
    for (const unit of units) {
      if (unit.state !== 'settling') continue
      if (unit.spans.every((span) => span.isEmitted)) {
        this.#linger(unit, nowMs)
        continue
      }
      // Spans arrived while the others were being scored.
      unit.state = 'open'
      this.#due.set(unit, unit.lastSeenMs + this.#options.settleMs)
    }
  }

  #addSpan(
    source: SourceSpan,
    place: SpanPlace,
    bytes: SpanBytes | undefined,
    nowMs: number,
    isEmitted: boolean,
  ): boolean {
    const trace = this.#traceOf(source.traceId)
    // A sender that got no answer sends again. What is the same span adds nothing.
    if (trace.spans.has(source.spanId)) return false
    const { maxSpansPerTrace, maxBytesPerTrace } = this.#options
    const span = toHeldSpan(source, place, bytes)
    if (trace.spans.size >= maxSpansPerTrace || trace.bytes + span.bytes > maxBytesPerTrace) {
      trace.lacksSpans = true
      this.counts.overLimit += 1
      this.#forgetEmpty(trace)
      return false
    }
    trace.spans.set(span.spanId, span)
    trace.bytes += span.bytes
    trace.isFlat ||= span.isFlat
    this.#heldSpans += 1
    connect(trace, span)
    const anchor = anchorOf(span, maxSpansPerTrace)
    let { unit } = anchor
    if (unit === undefined) {
      unit = createUnit(source.traceId, anchor, nowMs, isEmitted ? 'emitted' : 'open')
      anchor.unit = unit
      trace.units.add(unit)
    }
    addToUnit(unit, span, nowMs)
    if (isEmitted) this.#addEmitted(unit, span, nowMs)
    else {
      this.#contents.add(unit, span)
      this.#reopen(unit, nowMs)
    }
    this.#looseLogs.attach(trace, span)
    return true
  }

  /** A span that was scored before the service started again. */
  #addEmitted(unit: RunUnit, span: HeldSpan, nowMs: number): void {
    this.#finished.add(unit.traceId)
    span.isEmitted = true
    span.content = undefined
    if (unit.state !== 'emitted') return
    this.#lingering.add(unit)
    this.#due.set(unit, nowMs + this.#options.lingerMs)
  }

  #addLog(log: SourceLog, held: HeldLog, nowMs: number): boolean {
    const trace = this.#traceOf(log.traceId)
    const span = trace.spans.get(log.spanId)
    const { maxSpansPerTrace, orphanMs } = this.#options
    if (span === undefined) {
      return this.#looseLogs.add(trace, log.spanId, held, { count: maxSpansPerTrace, dueMs: nowMs + orphanMs })
    }
    const { unit } = anchorOf(span, maxSpansPerTrace)
    if (unit === undefined || (span.logs?.length ?? 0) >= maxSpansPerTrace) return false
    ;(span.logs ??= []).push(held)
    // A log record of a run that was scored is context for a later span; it makes no revision by itself.
    if (!span.isEmitted) this.#reopen(unit, nowMs)
    return true
  }

  /** A span of the unit arrived: it is open, and waits from now on. */
  #reopen(unit: RunUnit, nowMs: number): void {
    unit.lastSeenMs = Math.max(unit.lastSeenMs, nowMs)
    if (unit.state !== 'settling') unit.state = 'open'
    this.#lingering.delete(unit)
    this.#due.set(unit, unit.lastSeenMs + this.#options.settleMs)
  }

  #linger(unit: RunUnit, nowMs: number): void {
    unit.state = 'emitted'
    this.#contents.drop(unit)
    this.#lingering.add(unit)
    this.#due.set(unit, nowMs + this.#options.lingerMs)
  }

  #traceOf(traceId: string): HeldTrace {
    let trace = this.#traces.get(traceId)
    if (trace === undefined) {
      trace = createTrace(traceId)
      this.#traces.set(traceId, trace)
    }
    return trace
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
      this.#contents.move(unit, into)
      unit.top.unit = undefined
      this.#forgetUnit(trace, unit)
      if (unit.state !== 'emitted' || into.state !== 'emitted') this.#reopen(into, into.lastSeenMs)
    }
  }

  #settleDue(trace: HeldTrace, unit: RunUnit, nowMs: number, settled: SettledSpans[], finished: RunUnit[]): void {
    const dueMs = whenDue(trace, unit, nowMs, this.#options)
    if (dueMs > nowMs) {
      this.#due.set(unit, dueMs)
      return
    }
    if (unit.recognised === 0) {
      this.#finish(trace, unit, finished)
      return
    }
    if (this.#isTail(trace, unit)) {
      this.counts.late += unit.spans.length
      this.#finish(trace, unit, finished)
      return
    }
    // What else of the trace is ready may be the same run in the words of a second instrumentation, or part of this one.
    const ready = [...trace.units].filter((other) => other === unit || this.#isReady(trace, other, nowMs))
    for (const each of ready) {
      each.state = 'settling'
      this.#lingering.delete(each)
    }
    settled.push({
      traceId: trace.traceId,
      units: ready,
      spans: ready.flatMap(({ spans }) => spans),
      lacksSpans: trace.lacksSpans,
    })
  }

  #isReady(trace: HeldTrace, unit: RunUnit, nowMs: number): boolean {
    // Where parents do not show what belongs together, the trace is one.
    if (trace.isFlat) return unit.state !== 'settling'
    return (
      unit.state === 'open' &&
      unit.recognised > 0 &&
      whenDue(trace, unit, nowMs, this.#options) <= nowMs &&
      !this.#isTail(trace, unit)
    )
  }

  /** Spans without an agent whose parent never came, of a trace that has a finished run: its end, come too late. */
  #isTail(trace: HeldTrace, { top }: RunUnit): boolean {
    return isDangling(top) && this.#finished.has(trace.traceId)
  }

  #finishDue(trace: HeldTrace, unit: RunUnit, nowMs: number, finished: RunUnit[]): void {
    if (unit.lastSeenMs + this.#options.lingerMs > nowMs) this.#due.set(unit, unit.lastSeenMs + this.#options.lingerMs)
    else this.#finish(trace, unit, finished)
  }

  #finish(trace: HeldTrace, unit: RunUnit, finished: RunUnit[]): void {
    unit.state = 'finished'
    this.#contents.drop(unit)
    this.#forgetUnit(trace, unit)
    this.#heldSpans -= unit.spans.length
    for (const span of unit.spans) disconnect(trace, span)
    finished.push(unit)
    this.#forgetEmpty(trace)
  }

  #forgetUnit(trace: HeldTrace, unit: RunUnit): void {
    trace.units.delete(unit)
    this.#lingering.delete(unit)
    this.#due.delete(unit)
  }

  #forgetEmpty(trace: HeldTrace): void {
    if (trace.units.size === 0 && trace.looseLogs.size === 0) this.#traces.delete(trace.traceId)
  }

  /** Many spans are held: the runs that were scored first wait no longer for late spans. */
  #giveWay(finished: RunUnit[]): void {
    const limit = this.#options.maxSpans * LINGERING_SHARE
    for (const unit of this.#lingering) {
      if (this.#heldSpans <= limit) return
      const trace = this.#traces.get(unit.traceId)
      this.#lingering.delete(unit)
      if (trace === undefined || unit.state !== 'emitted') continue
      this.counts.cutShort += 1
      this.#finish(trace, unit, finished)
    }
  }
}

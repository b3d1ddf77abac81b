import type { DecodedRecord, RecordBytes } from '../log/span-log.ts'
import { EMITTED, FINISHED } from '../log/record-states.ts'
import { BoundedSet } from './bounded-set.ts'
import type { TraceBufferCounts, TraceBufferOptions } from './buffer-options.ts'
import { anchorOf, toHeldSpan } from './held-span.ts'
import type { HeldSpan, RunUnit, SpanPlace } from './held-span.ts'
import { connect } from './held-trace.ts'
import type { HeldTrace } from './held-trace.ts'
import { HeldUnits } from './held-units.ts'
import type { FinishedSpans } from './held-units.ts'
import { LooseLogs } from './loose-logs.ts'

import { heldSize, placeIn } from './span-content.ts'
import type { LogFacts, SpanFacts } from './span-facts.ts'
import { isDangling } from './loose-units.ts'
import { whenDue } from './when-due.ts'

/** Spans that are ready to be reconstructed into runs. */
export interface SettledSpans {
  readonly traceId: string
  readonly units: readonly RunUnit[]
  readonly spans: readonly HeldSpan[]
  /** Whether spans of the trace were left out at a limit. */
  readonly lacksSpans: boolean
}

/** What is due at a time. */
export interface Due {
  readonly settled: readonly SettledSpans[]
  /** Spans that are no longer needed. */
  readonly finished: readonly FinishedSpans[]
  /** Log records whose span never arrived. */
  readonly freed: readonly SpanPlace[]
}

/** Maximum number of traces with a finished run that are remembered. */
const MAX_FINISHED = 200_000

/**
 * Share of a trace's limits by which the spans of agents may exceed them. An agent's span arrives last, and without it the run would never be
 * scored.
 */
const RESERVED_FOR_AGENTS = 0.125

/**
 * The spans of unfinished traces, and when each of their runs is complete: nothing below the agent has arrived for `settleMs`, and no span
 * that may belong to it still waits for its parent. A missing parent above the outermost agent does not matter. Time is the time of the
 * log, never the senders'.
 */
export class TraceBuffer {
  readonly #options: TraceBufferOptions
  readonly #held: HeldUnits
  readonly #looseLogs = new LooseLogs()
  readonly #finished = new BoundedSet(MAX_FINISHED)
  readonly counts: TraceBufferCounts = { late: 0, overLimit: 0, expired: 0, cutShort: 0 }

  constructor(options: TraceBufferOptions) {
    this.#options = options
    this.#held = new HeldUnits(options)
  }

  /** Spans whose place in their trace is held. */
  get heldSpans(): number {
    return this.#held.spans
  }

  /** Bytes of requests in memory that contain waiting spans or log records. */
  get contentBytes(): number {
    return this.#held.contents.bytes
  }

  /** Whether too many spans wait for their run to be complete or scored, so that no more should be added. */
  get isFull(): boolean {
    return this.#held.spans >= this.#options.maxSpans
  }

  /** Traces of which anything is held. */
  get traces(): number {
    return this.#held.traces
  }

  /**
   * Adds one record of the log.
   *
   * @param stateOf the state of each of its spans and log records, by index
   * @param nowMs the time of the log
   * @returns the indexes of those that are not held, because they are not needed or already held
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
      if (!isWanted || !this.#addLog(log, { offset, index }, bytes, nowMs)) left.push(index)
    }
    return left
  }

  /** What is due at a time of the log. Each returned unit must be passed to `emitted` once its scores are delivered. */
  settle(nowMs: number): Due {
    const settled: SettledSpans[] = []
    const finished: FinishedSpans[] = [...this.#held.takeOver(nowMs)]
    const loose = this.#looseLogs.take(nowMs)
    for (const trace of loose.traces) this.#held.forgetEmpty(trace)
    for (const [trace, unit] of this.#held.takeDue(nowMs)) {
      if (unit.state === 'emitted') {
        if (unit.lingersUntilMs > nowMs) this.#held.lookAt(unit, unit.lingersUntilMs)
        else this.#finish(trace, unit, finished)
      } else if (unit.state === 'open') this.#settleDue(trace, unit, nowMs, settled, finished)
    }
    this.#held.pack()
    const cutShort = this.#held.giveWay()
    for (const { units } of cutShort) this.counts.cutShort += units
    finished.push(...cutShort)
    return { settled, finished, freed: loose.places }
  }

  /**
   * Drops runs with spans in records up to an offset, whether their scores were delivered or not.
   *
   * @returns spans that are no longer needed
   */
  expire(offset: number): readonly FinishedSpans[] {
    const finished: FinishedSpans[] = []
    for (const trace of this.#held.tracesUpTo(offset)) {
      for (const unit of trace.units) {
        if (!unit.spans.some((span) => span.offset <= offset)) continue
        if (unit.state !== 'emitted') this.counts.expired += unit.spans.length
        this.#finish(trace, unit, finished)
      }
    }
    return finished
  }

  /** These spans were passed to the scorers. Their content is no longer needed in memory. */
  scored({ units }: SettledSpans): void {
    for (const unit of units) this.#held.contents.drop(unit)
  }

  /** The scores of these spans were acknowledged. Their places are kept for late spans. */
  emitted({ traceId, units, spans }: SettledSpans, nowMs: number): void {
    this.#finished.add(traceId)
    for (const span of spans) span.isEmitted = true
    for (const unit of units) {
      if (unit.state !== 'settling') continue
      if (unit.spans.every((span) => span.isEmitted)) {
        this.#held.linger(unit, nowMs)
        continue
      }
      // Spans arrived while the others were being scored.
      unit.state = 'open'
      this.#held.reopen(unit, unit.lastSeenMs)
    }
  }

  #addSpan(facts: SpanFacts, place: SpanPlace, bytes: RecordBytes, nowMs: number, isEmitted: boolean): boolean {
    const trace = this.#held.traceOf(facts.traceId)
    // A sender without an answer repeats its request. The same span adds nothing.
    if (trace.spans.has(facts.spanId)) return false
    const { maxSpansPerTrace, maxBytesPerTrace } = this.#options
    const span = toHeldSpan(facts, place, bytes)
    const size = heldSize(span)
    const share = span.isAnchor ? 1 + RESERVED_FOR_AGENTS : 1
    if (trace.spans.size >= maxSpansPerTrace * share || trace.bytes + size > maxBytesPerTrace * share) {
      trace.lacksSpans = true
      this.counts.overLimit += 1
      this.#held.forgetEmpty(trace)
      return false
    }
    trace.spans.set(span.spanId, span)
    trace.bytes += size
    trace.isFlat ||= span.isFlat
    connect(trace, span)
    trace.lastSeenMs = Math.max(trace.lastSeenMs, nowMs)
    trace.loose = undefined
    const unit = this.#held.place(trace, span, nowMs, isEmitted ? 'emitted' : 'open')
    if (isEmitted) {
      // It was scored before the service restarted.
      this.#finished.add(unit.traceId)
      span.isEmitted = true
      if (unit.state === 'emitted') this.#held.linger(unit, nowMs)
    } else {
      if (span.isRecognised) this.#held.contents.add(unit, span, bytes.body, nowMs)
      this.#held.reopen(unit, nowMs)
    }
    for (const log of this.#looseLogs.attach(trace, span)) this.#held.contents.adopt(unit, log, nowMs)
    if (trace.looseLogs.size === 0) this.#held.contents.disown(trace)
    return true
  }

  #addLog(log: LogFacts, place: SpanPlace, bytes: RecordBytes, nowMs: number): boolean {
    const trace = this.#held.traceOf(log.traceId)
    const span = trace.spans.get(log.spanId)
    const { maxSpansPerTrace, orphanMs } = this.#options
    const held = { ...placeIn(bytes, place.index), ...place, scope: log.scope }
    if (span === undefined) {
      const limits = { count: maxSpansPerTrace, dueMs: nowMs + orphanMs }
      const isHeld = this.#looseLogs.add(trace, log.spanId, held, limits)
      if (isHeld) this.#held.contents.add(trace, held, bytes.body, nowMs)
      return isHeld
    }
    const { unit } = anchorOf(span)
    if (unit === undefined || (span.logs?.length ?? 0) >= maxSpansPerTrace) return false
    ;(span.logs ??= []).push(held)
    trace.lastSeenMs = Math.max(trace.lastSeenMs, nowMs)
    // A log record of a scored run is context for later spans, and creates no revision by itself.
    if (span.isEmitted) return true
    this.#held.contents.add(unit, held, bytes.body, nowMs)
    this.#held.reopen(unit, nowMs)
    return true
  }

  #settleDue(trace: HeldTrace, unit: RunUnit, nowMs: number, settled: SettledSpans[], finished: FinishedSpans[]): void {
    const dueMs = whenDue(trace, unit, nowMs, this.#options)
    if (dueMs > nowMs) {
      this.#held.lookAt(unit, dueMs)
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
    // Other ready units of the trace may be the same run as recorded by a second instrumentation, or part of this one.
    const ready = [...trace.units].filter((other) => other === unit || this.#isReady(trace, other, nowMs))
    for (const each of ready) this.#held.hand(each)
    settled.push({
      traceId: trace.traceId,
      units: ready,
      spans: ready.flatMap(({ spans }) => spans),
      lacksSpans: trace.lacksSpans,
    })
  }

  #isReady(trace: HeldTrace, unit: RunUnit, nowMs: number): boolean {
    // If parents do not show what belongs together, the whole trace is one.
    if (trace.isFlat) return unit.state !== 'settling'
    return (
      unit.state === 'open' &&
      unit.recognised > 0 &&
      whenDue(trace, unit, nowMs, this.#options) <= nowMs &&
      !this.#isTail(trace, unit)
    )
  }

  /** Whether these are spans without an agent and with a missing parent in a trace with a finished run: its late rest. */
  #isTail(trace: HeldTrace, { top }: RunUnit): boolean {
    return isDangling(top) && this.#finished.has(trace.traceId)
  }

  #finish(trace: HeldTrace, unit: RunUnit, finished: FinishedSpans[]): void {
    finished.push(this.#held.finish(trace, unit))
  }
}

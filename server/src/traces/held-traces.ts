import { BoundedMap } from 'spanscore/engine'

import type { RecordBytes } from '../log/record-body.ts'
import type { DecodedRecord } from '../log/span-log.ts'
import { EMITTED, FINISHED } from '../log/record-states.ts'
import type { HeldTracesCounts, HeldTracesOptions } from './held-traces-options.ts'
import { DueTimes } from './due-times.ts'
import { HeldContents, placeIn } from './held-contents.ts'
import type { HeldBytes } from './held-contents.ts'
import type { HeldLog, HeldSpan, LogFacts, LogPosition } from './held-span.ts'
import { HeldTrace } from './held-trace.ts'
import type { RunUnit } from './held-trace.ts'
import { WaitingSpans } from './waiting-spans.ts'
import { WhenDue } from './when-due.ts'
import type { LookTimes } from './when-due.ts'

/** Spans that are ready to be reconstructed into runs. */
export interface SettledSpans {
  readonly traceId: string
  readonly spans: readonly HeldSpan[]
  /** Whether spans of the trace were left out at a limit. */
  readonly lacksSpans: boolean
}

/** Spans of a trace that are no longer needed. */
export interface FinishedSpans {
  readonly traceId: string
  readonly spans: readonly HeldSpan[]
}

/** What is due at a time. */
export interface Due {
  readonly settled: SettledSpans[]
  readonly finished: FinishedSpans[]
  /** Log records whose span never arrived. */
  readonly freed: LogPosition[]
}

/** Maximum number of traces with a finished run that are remembered. */
const MAX_FINISHED = 200_000

/** For how many milliseconds all senders may be refused before the spans of one give way. */
const FULL_MS = 2000

/** How many times as many spans of one service may wait as there is room for: alone, it takes four fifths, and others find the rest. */
const MAX_OF_ROOM = 4

/** Above this share of `maxSpans`, scored runs are dropped to make room. */
const LINGERING_SHARE = 0.8

/**
 * Share of a trace's limits by which the spans of agents may exceed them. An agent's span arrives last, and without it the run would never be
 * scored.
 */
const RESERVED_FOR_AGENTS = 0.125

/** A trace is looked at at most once in a millisecond for so many spans of it. */
const SPANS_OF_A_MILLISECOND = 10

/**
 * The trees of unfinished traces, and when each of their runs is complete: nothing below the agent has arrived for `settleMs`, and no span
 * that may belong to it still waits for its parent. A missing parent above the outermost agent does not matter. Time is the time of the
 * log, never the senders'.
 */
export class HeldTraces {
  readonly #options: HeldTracesOptions
  readonly #traces = new Map<string, HeldTrace>()
  readonly #due = new DueTimes<HeldTrace>()
  readonly #contents: HeldContents
  readonly #times: LookTimes
  /** Traces with scored units, in the order of their scoring. */
  readonly #lingering = new Set<HeldTrace>()
  readonly #finished = new BoundedMap<string, true>(MAX_FINISHED)
  readonly counts: HeldTracesCounts = { late: 0, overLimit: 0, expired: 0, cutShort: 0 }
  readonly #waiting = new WaitingSpans()
  /** Traces with log records that wait for their spans, those with the oldest first. */
  readonly #early = new Set<HeldTrace>()
  #earlyLogs = 0
  /** Log records that are no longer needed, until the next settling. */
  #freed: LogPosition[] = []
  #spans = 0
  #fullSinceMs: number | undefined

  constructor(options: HeldTracesOptions) {
    this.#options = options
    this.#contents = new HeldContents({
      get maxBytes() {
        return options.maxContentBytes
      },
      usualMs: 2 * options.settleMs,
    })
    const { settleMs, maxAgeMs } = options
    this.#times = { settleMs, maxAgeMs, orphanMs: (span) => this.#orphanMs(span) }
  }

  /** Spans whose place in their trace is held. */
  get heldSpans(): number {
    return this.#spans
  }

  /** Bytes of requests in memory that contain waiting spans or log records. */
  get contentBytes(): number {
    return this.#contents.bytes
  }

  /** Whether too many spans wait for their run to be complete or scored, so that no more should be added. */
  get isFull(): boolean {
    return this.#spans >= this.#options.maxSpans
  }

  /** Whether the rest of the room is kept for other services, because so many spans of this one wait. */
  isFullFor(service: unknown): boolean {
    return this.#waiting.of(service) > MAX_OF_ROOM * (this.#options.maxSpans - this.#spans)
  }

  /** Traces of which anything is held. */
  get traces(): number {
    return this.#traces.size
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
      if (span !== undefined && state !== FINISHED) {
        span.isAt({ offset, index }, bytes)
        span.isEmitted = state === EMITTED
        span.sinceMs = nowMs
      }
      if (span === undefined || state === FINISHED || !this.#addSpan(span, bytes)) left.push(index)
    }
    for (const [position, log] of logs.entries()) {
      const index = spans.length + position
      const known = stateOf(index)
      const isWanted = log !== undefined && known !== FINISHED
      const state = known === EMITTED ? 'scored' : 'waiting'
      if (!isWanted || !this.#addLog({ ...log, offset, index, state, sinceMs: nowMs }, bytes)) left.push(index)
    }
    return left
  }

  /** What is due at a time of the log. What is settled must be passed to `emitted` once its scores are delivered. */
  settle(nowMs: number): Due {
    const due: Due = { settled: [], finished: [], freed: this.#freed }
    this.#freed = []
    for (const trace of this.#due.take(nowMs)) this.#look(trace, nowMs, due)
    this.#giveWay(due.finished)
    return due
  }

  /**
   * If all senders have been refused for a while, spans are left out that wait for parents, or for their scores without one, of services that have
   * more than their share of them.
   *
   * @returns spans that are no longer needed
   */
  makeRoom(nowMs: number): readonly FinishedSpans[] {
    const { maxSpans } = this.#options
    if (!this.isFull) this.#fullSinceMs = undefined
    else this.#fullSinceMs ??= nowMs
    if (this.#fullSinceMs === undefined || nowMs - this.#fullSinceMs < FULL_MS) return []
    const finished: FinishedSpans[] = []
    for (const trace of this.#traces.values()) {
      for (const unit of trace.units()) {
        if (this.#spans <= maxSpans * LINGERING_SHARE) return finished
        if (!unit.top.isDangling || !(unit.isOpen || unit.isScoring)) continue
        if (!this.#waiting.hasTooMany(unit.top, this.#spans, maxSpans)) continue
        this.counts.overLimit += unit.spans.length
        trace.lacksSpans = true
        for (const span of unit.spans) span.isLeftOut = true
        this.#finish(trace, unit, finished)
      }
    }
    return finished
  }

  /**
   * Drops runs with spans in records up to an offset, whether their scores were delivered or not.
   *
   * @returns spans that are no longer needed
   */
  expire(offset: number): readonly FinishedSpans[] {
    return this.#drop(this.#traces.values(), (unit) => unit.spans.some((span) => span.offset <= offset))
  }

  /**
   * Drops all that is held of some traces.
   *
   * @returns spans that are no longer needed
   */
  forget(traceIds: ReadonlySet<string>): readonly FinishedSpans[] {
    const traces = [...traceIds].flatMap((traceId) => this.#traces.get(traceId) ?? [])
    for (const trace of traces) this.#freeLooseLogs(trace, this.#freed)
    const finished = this.#drop(traces, () => true)
    for (const trace of traces) this.#forgetEmpty(trace)
    return finished
  }

  #drop(traces: Iterable<HeldTrace>, isDropped: (unit: RunUnit) => boolean): readonly FinishedSpans[] {
    const finished: FinishedSpans[] = []
    for (const trace of traces) {
      for (const unit of trace.units()) {
        if (!isDropped(unit)) continue
        if (unit.isOpen || unit.isScoring) this.counts.expired += unit.spans.length
        this.#finish(trace, unit, finished)
      }
    }
    return finished
  }

  /** These spans were passed to the scorers. Their content is no longer needed in memory. */
  scored({ traceId, spans }: SettledSpans): void {
    const trace = this.#traces.get(traceId)
    if (trace !== undefined) for (const span of spans) this.#release(trace, span)
  }

  /** The scores of these spans were acknowledged. Their places are kept for late spans. */
  emitted({ traceId, spans }: SettledSpans, nowMs: number): void {
    this.#finished.set(traceId, true)
    const trace = this.#traces.get(traceId)
    // Others may have arrived while these were being scored.
    let isOpen = trace !== undefined && trace.byId.size > spans.length
    for (const span of spans) {
      if (!span.isEmitted && !span.isOver) this.#waiting.remove(span)
      for (const log of span.held ?? []) if (log.state === 'scoring') log.state = 'scored'
      span.isScoring = false
      span.isEmitted = true
      span.sinceMs = nowMs
      isOpen ||= !span.isSettled
      if (trace !== undefined) this.#release(trace, span)
    }
    if (trace === undefined) return
    this.#lingering.add(trace)
    this.#due.atLatest(trace, isOpen ? nowMs : nowMs + this.#options.lingerMs)
  }

  #addSpan(span: HeldSpan, { body }: RecordBytes): boolean {
    const { traceId, sinceMs } = span
    const trace = this.#traceOf(traceId)
    // A sender without an answer repeats its request. The same span adds nothing.
    if (trace.byId.has(span.spanId)) return false
    const { maxSpansPerTrace, maxBytesPerTrace, settleMs, lingerMs } = this.#options
    const share = span.isAnchor ? 1 + RESERVED_FOR_AGENTS : 1
    if (trace.byId.size >= maxSpansPerTrace * share || trace.bytes + span.size > maxBytesPerTrace * share) {
      trace.lacksSpans = true
      this.counts.overLimit += 1
      this.#forgetEmpty(trace)
      return false
    }
    this.#earlyLogs -= trace.looseLogs.get(span.spanId)?.length ?? 0
    trace.hold(span)
    if (trace.looseLogs.size === 0) this.#early.delete(trace)
    this.#spans += 1
    if (span.isEmitted) {
      // It was scored before the service restarted.
      this.#finished.set(traceId, true)
      this.#lingering.add(trace)
      this.#due.atLatest(trace, sinceMs + (span.isSettled ? lingerMs : settleMs))
      return true
    }
    this.#waiting.add(span)
    if (span.isRecognised) this.#contents.add(trace, span, body, sinceMs)
    this.#due.atLatest(trace, sinceMs + settleMs)
    return true
  }

  #addLog({ traceId, spanId, ...known }: LogFacts & Omit<HeldLog, keyof HeldBytes>, bytes: RecordBytes): boolean {
    const trace = this.#traceOf(traceId)
    const span = trace.byId.get(spanId)
    const logs = span?.held ?? trace.looseLogs.get(spanId) ?? []
    if (logs.length >= this.#options.maxSpansPerTrace) return false
    const nowMs = known.sinceMs
    const log: HeldLog = { ...placeIn(bytes, known.index), ...known }
    logs.push(log)
    if (span === undefined) {
      trace.looseLogs.set(spanId, logs)
      this.#early.add(trace)
      this.#earlyLogs += 1
      this.#due.atLatest(trace, nowMs + this.#options.orphanMs)
    } else {
      span.held = logs
      if (span.isSettled) return true
      span.sinceMs = nowMs
      if (span.isEmitted) this.#due.atLatest(trace, nowMs + this.#options.settleMs)
    }
    this.#contents.add(trace, log, bytes.body, nowMs)
    if (this.#earlyLogs > this.#options.maxSpans) this.#leaveOutEarlyLogs()
    return true
  }

  /** There is room for as many log records without a span as for spans. */
  #leaveOutEarlyLogs(): void {
    const [trace] = this.#early
    if (trace === undefined) return
    this.counts.overLimit += this.#freeLooseLogs(trace, this.#freed)
    this.#forgetEmpty(trace)
  }

  /** Settles and finishes what is due in a trace. */
  #look(trace: HeldTrace, nowMs: number, { settled, finished, freed }: Due): void {
    let nextMs = this.#freeLogs(trace, nowMs, freed)
    const units = trace.units()
    const due = new WhenDue(units, trace.isFlat, nowMs, this.#times)
    const ready: RunUnit[] = []
    for (const unit of units) {
      // Its spans are looked at again once they are scored.
      if (unit.isScoring) continue
      const dueMs = unit.isOpen ? due.of(unit) : unit.scoredMs + this.#options.lingerMs
      if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs)
      else if (!unit.isOpen || unit.recognised === 0) this.#finish(trace, unit, finished)
      else if (unit.top.isDangling && this.#finished.get(trace.traceId) === true) {
        // The late rest of a finished run: spans without an agent, and with a missing parent.
        this.counts.late += unit.spans.length
        this.#finish(trace, unit, finished)
      } else ready.push(unit)
    }
    if (ready.length > 0) {
      // Other ready units of the trace may be the same run as recorded by a second instrumentation, or part of this one.
      const together = trace.isFlat ? trace.units().filter(({ isScoring }) => !isScoring) : ready
      const spans = together.flatMap((unit) => unit.spans)
      for (const span of spans) {
        span.isScoring = true
        for (const log of span.held ?? []) if (log.state === 'waiting') log.state = 'scoring'
      }
      settled.push({ traceId: trace.traceId, spans, lacksSpans: trace.lacksSpans })
    }
    if (trace.isEmpty) this.#forgetEmpty(trace)
    else if (nextMs < Number.POSITIVE_INFINITY)
      this.#due.set(trace, Math.max(nextMs, nowMs + trace.byId.size / SPANS_OF_A_MILLISECOND))
  }

  /** Drops log records whose span never arrived. @returns when that is due */
  #freeLogs(trace: HeldTrace, nowMs: number, freed: LogPosition[]): number {
    const { looseLogs } = trace
    if (looseLogs.size === 0) return Number.POSITIVE_INFINITY
    const logs = [...looseLogs.values()].flat()
    const dueMs = logs.reduce((lastMs, { sinceMs }) => Math.max(lastMs, sinceMs), 0) + this.#options.orphanMs
    if (dueMs > nowMs) return dueMs
    this.#freeLooseLogs(trace, freed)
    return Number.POSITIVE_INFINITY
  }

  /** @returns how many there were */
  #freeLooseLogs(trace: HeldTrace, freed: LogPosition[]): number {
    const logs = [...trace.looseLogs.values()].flat()
    for (const log of logs) {
      this.#contents.release(trace, log)
      freed.push(log)
    }
    trace.looseLogs.clear()
    this.#early.delete(trace)
    this.#earlyLogs -= logs.length
    return logs.length
  }

  /** If too many spans are held, the traces that were scored first stop waiting for late spans. */
  #giveWay(finished: FinishedSpans[]): void {
    for (const trace of this.#lingering) {
      if (this.#spans <= this.#options.maxSpans * LINGERING_SHARE) return
      this.#lingering.delete(trace)
      for (const unit of trace.units()) {
        if (unit.isOpen || unit.isScoring) continue
        this.counts.cutShort += 1
        this.#finish(trace, unit, finished)
      }
      if (trace.isEmpty) this.#forgetEmpty(trace)
    }
  }

  /** The unit is no longer needed. */
  #finish(trace: HeldTrace, unit: RunUnit, finished: FinishedSpans[]): void {
    for (const span of unit.spans) {
      this.#release(trace, span)
      if (!span.isEmitted) this.#waiting.remove(span)
    }
    trace.finish(unit)
    this.#spans -= unit.spans.length
    this.#forgetEmpty(trace)
    finished.push({ traceId: trace.traceId, spans: unit.spans })
  }

  /** How long a span waits for its parent: if too many of its service wait, no longer than a run for its spans. */
  #orphanMs(span: HeldSpan): number {
    const { orphanMs, settleMs, maxSpans } = this.#options
    return this.#waiting.hasTooMany(span, this.#spans, maxSpans) ? Math.min(orphanMs, settleMs) : orphanMs
  }

  #release(trace: HeldTrace, span: HeldSpan): void {
    this.#contents.release(trace, span)
    if (span.held !== undefined) for (const log of span.held) this.#contents.release(trace, log)
  }

  /** The trace with an id, which is created if missing. */
  #traceOf(traceId: string): HeldTrace {
    const known = this.#traces.get(traceId)
    if (known !== undefined) return known
    const trace = new HeldTrace(traceId)
    this.#traces.set(traceId, trace)
    return trace
  }

  #forgetEmpty(trace: HeldTrace): void {
    if (!trace.isEmpty) return
    this.#due.delete(trace)
    this.#lingering.delete(trace)
    this.#traces.delete(trace.traceId)
  }
}

import type { SourceLog, SourceSpan } from 'spanscore/engine'

import { BoundedSet } from './bounded-set.ts'
import { DueTimes } from './due-times.ts'
import { anchorOf, toHeldSpan } from './held-span.ts'
import type { HeldSpan } from './held-span.ts'
import { addToUnit, createUnit, mergeUnits } from './run-unit.ts'
import type { RunUnit } from './run-unit.ts'

/** When a unit counts as complete, and how much is held. All times are times of the log, in milliseconds. */
export interface TraceBufferOptions {
  /** How long no span of a run may have arrived. */
  readonly settleMs: number
  /** How long spans whose parent has not arrived wait for it. */
  readonly orphanMs: number
  /** How long the place of a scored run is kept for spans that come late. */
  readonly lingerMs: number
  /** How long spans may wait in all. */
  readonly maxAgeMs: number
  /** Spans of one trace that are held; later ones are left out, and its runs are incomplete. */
  readonly maxSpansPerTrace: number
  /** Spans that are held with their content; over it the oldest unit is settled as it is. */
  readonly maxSpans: number
}

/** Spans that are ready to be put together, and what came of them before. */
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
  /** Records with log records whose span never arrived. */
  readonly freed: readonly number[]
}

/** What the buffer counts. */
export interface TraceBufferCounts {
  /** Spans that came after their run was finished. */
  late: number
  /** Spans that were left out because their trace holds too many. */
  overLimit: number
  /** Units that were settled before their time because too many spans are held. */
  hurried: number
}

interface HeldTrace {
  readonly traceId: string
  readonly spans: Map<string, HeldSpan>
  /** Spans whose parent has not arrived, by its id. */
  readonly waiting: Map<string, HeldSpan[]>
  /** Log records that arrived before their span. */
  readonly looseLogs: Map<string, { readonly log: SourceLog; readonly offset: number }[]>
  readonly units: Set<RunUnit>
  isFlat: boolean
  lacksSpans: boolean
  /** Whether a parent arrived after its children: units may have to be merged. */
  isChanged: boolean
}

/** How often a unit that waits for another one is looked at again. */
const LOOK_AGAIN_MS = 500

/** Traces of which it is remembered that a run of theirs is finished. */
const MAX_FINISHED = 200_000

/**
 * The spans of traces that are not finished, and when each run of them is complete: nothing of an agent's subtree has arrived
 * for `settleMs`, and no span that may belong to it waits for its parent. Time is the time of the log, never the senders'.
 */
export class TraceBuffer {
  readonly #options: TraceBufferOptions
  readonly #traces = new Map<string, HeldTrace>()
  readonly #due = new DueTimes<RunUnit>()
  /** Traces with log records whose span has not arrived. */
  readonly #looseDue = new DueTimes<HeldTrace>()
  readonly #finished = new BoundedSet(MAX_FINISHED)
  /** Units in the order in which they began, with content in memory. */
  readonly #withContent = new Set<RunUnit>()
  readonly counts: TraceBufferCounts = { late: 0, overLimit: 0, hurried: 0 }
  #heldSpans = 0

  constructor(options: TraceBufferOptions) {
    this.#options = options
  }

  /** Spans that are held with their content. */
  get heldSpans(): number {
    return this.#heldSpans
  }

  /** Traces of which anything is held. */
  get traces(): number {
    return this.#traces.size
  }

  /** Units that are not scored yet. */
  get openUnits(): number {
    return this.#withContent.size
  }

  /**
   * Takes in one record of the log.
   *
   * @param nowMs The time of the log.
   * @returns Whether anything of it is held. Where nothing is, the record is finished.
   */
  add(offset: number, spans: readonly SourceSpan[], logs: readonly SourceLog[], nowMs: number): boolean {
    let isHeld = false
    for (const span of spans) if (this.#addSpan(span, offset, nowMs)) isHeld = true
    for (const log of logs) if (this.#addLog(log, offset, nowMs)) isHeld = true
    return isHeld
  }

  /** Whether a span that is held came with this record. */
  holds(traceId: string, offset: number): boolean {
    const trace = this.#traces.get(traceId)
    if (trace === undefined) return false
    for (const unit of trace.units) if (unit.offsets.has(offset)) return true
    for (const early of trace.looseLogs.values()) if (early.some((each) => each.offset === offset)) return true
    return false
  }

  /** What is due at a time of the log. Each unit that is given is to be handed to `emitted` once its scores are out. */
  settle(nowMs: number): Due {
    const settled: SettledSpans[] = []
    const finished: RunUnit[] = []
    const freed = this.#looseDue.take(nowMs).flatMap((trace) => this.#forgetLoose(trace))
    for (const unit of this.#due.take(nowMs)) {
      const trace = this.#traces.get(unit.traceId)
      if (trace === undefined || !trace.units.has(unit)) continue
      if (trace.isChanged) this.#mergeConnected(trace)
      if (!trace.units.has(unit)) continue
      if (unit.state === 'emitted') this.#finishDue(trace, unit, nowMs, finished)
      else if (unit.state === 'open') this.#settleDue(trace, unit, nowMs, settled, finished)
    }
    this.#hurry(nowMs, settled, finished)
    return { settled, finished, freed }
  }

  /** Everything that is open, complete or not, as at the end of the input. */
  settleAll(): SettledSpans[] {
    const settled: SettledSpans[] = []
    for (const trace of this.#traces.values()) {
      this.#mergeConnected(trace)
      const open = [...trace.units].filter((unit) => unit.state === 'open' && unit.recognised > 0)
      if (open.length > 0) settled.push(this.#take(trace, open))
    }
    return settled
  }

  /** The scores of these units were acknowledged: their content is let go of, their place is kept for late spans. */
  emitted({ traceId, units }: SettledSpans, nowMs: number): void {
    this.#finished.add(traceId)
    for (const unit of units) {
      if (unit.state !== 'settling') continue
      unit.state = 'emitted'
      for (const span of unit.spans) this.#dropContent(span)
      this.#withContent.delete(unit)
      this.#due.set(unit, nowMs + this.#options.lingerMs)
    }
  }

  /** The scores of these units could not be made now: they are due again. */
  retry({ units }: SettledSpans, nowMs: number): void {
    for (const unit of units) {
      if (unit.state !== 'settling') continue
      unit.state = 'open'
      this.#due.set(unit, nowMs + LOOK_AGAIN_MS)
    }
  }

  /** Gives spans of a trace their content back, read from the log again. */
  restore(traceId: string, sources: Iterable<SourceSpan>, logs: readonly SourceLog[]): void {
    const trace = this.#traces.get(traceId)
    if (trace === undefined) return
    for (const source of sources) {
      const span = trace.spans.get(source.spanId)
      if (span !== undefined && span.source === undefined) {
        span.source = span.isRecognised ? source : toHeldSpan(source, span.offset).source
        this.#heldSpans += 1
      }
    }
    for (const log of logs) {
      const span = trace.spans.get(log.spanId)
      if (
        span !== undefined &&
        !span.logs?.some((known) => known.timeMs === log.timeMs && known.eventName === log.eventName)
      )
        (span.logs ??= []).push(log)
    }
  }

  #addSpan(source: SourceSpan, offset: number, nowMs: number): boolean {
    const trace = this.#traceOf(source.traceId)
    const known = trace.spans.get(source.spanId)
    if (known !== undefined) {
      // A sender that got no answer sends again. What is the same span adds nothing.
      return known.offset === offset
    }
    if (trace.spans.size >= this.#options.maxSpansPerTrace) {
      trace.lacksSpans = true
      this.counts.overLimit += 1
      return false
    }
    const span = toHeldSpan(source, offset)
    trace.spans.set(span.spanId, span)
    trace.isFlat ||= span.isFlat
    this.#heldSpans += 1
    this.#connect(trace, span)
    const anchor = anchorOf(span, this.#options.maxSpansPerTrace)
    let { unit } = anchor
    if (unit === undefined) {
      unit = createUnit(source.traceId, anchor, nowMs)
      anchor.unit = unit
      trace.units.add(unit)
    }
    addToUnit(unit, span, nowMs)
    this.#reopen(unit, nowMs)
    const early = trace.looseLogs.get(span.spanId)
    if (early !== undefined) {
      trace.looseLogs.delete(span.spanId)
      for (const { log, offset: at } of early) this.#attach(unit, span, log, at)
    }
    return true
  }

  #addLog(log: SourceLog, offset: number, nowMs: number): boolean {
    const trace = this.#traceOf(log.traceId)
    const span = trace.spans.get(log.spanId)
    if (span === undefined) {
      const early = trace.looseLogs.get(log.spanId) ?? []
      if (early.length >= this.#options.maxSpansPerTrace) return false
      early.push({ log, offset })
      trace.looseLogs.set(log.spanId, early)
      this.#looseDue.set(trace, nowMs + this.#options.orphanMs)
      return true
    }
    const { unit } = anchorOf(span, this.#options.maxSpansPerTrace)
    if (unit === undefined) return false
    this.#attach(unit, span, log, offset)
    this.#reopen(unit, nowMs)
    return true
  }

  #attach(unit: RunUnit, span: HeldSpan, log: SourceLog, offset: number): void {
    ;(span.logs ??= []).push(log)
    unit.offsets.add(offset)
  }

  #connect(trace: HeldTrace, span: HeldSpan): void {
    const { parentSpanId } = span
    if (parentSpanId !== undefined) {
      const parent = trace.spans.get(parentSpanId)
      if (parent === undefined || parent === span) listIn(trace.waiting, parentSpanId).push(span)
      else adopt(parent, span)
    }
    const children = trace.waiting.get(span.spanId)
    if (children === undefined) return
    trace.waiting.delete(span.spanId)
    for (const child of children) if (child !== span) adopt(span, child)
    trace.isChanged = true
  }

  /** A span of the unit arrived: it is open, and waits from now on. */
  #reopen(unit: RunUnit, nowMs: number): void {
    unit.lastSeenMs = Math.max(unit.lastSeenMs, nowMs)
    if (unit.state !== 'settling') unit.state = 'open'
    this.#withContent.add(unit)
    this.#due.set(unit, unit.lastSeenMs + this.#options.settleMs)
  }

  #traceOf(traceId: string): HeldTrace {
    let trace = this.#traces.get(traceId)
    if (trace === undefined) {
      trace = {
        traceId,
        spans: new Map(),
        waiting: new Map(),
        looseLogs: new Map(),
        units: new Set(),
        isFlat: false,
        lacksSpans: false,
        isChanged: false,
      }
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
      unit.top.unit = undefined
      trace.units.delete(unit)
      this.#withContent.delete(unit)
      this.#due.delete(unit)
      if (unit.state !== 'emitted' || into.state !== 'emitted') this.#reopen(into, into.lastSeenMs)
    }
  }

  #settleDue(trace: HeldTrace, unit: RunUnit, nowMs: number, settled: SettledSpans[], finished: RunUnit[]): void {
    const dueMs = this.#dueMs(trace, unit, nowMs)
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
    settled.push(this.#take(trace, ready))
  }

  #isReady(trace: HeldTrace, unit: RunUnit, nowMs: number): boolean {
    // Where parents do not show what belongs together, the trace is one.
    if (trace.isFlat) return unit.state !== 'settling'
    return (
      unit.state === 'open' &&
      unit.recognised > 0 &&
      this.#dueMs(trace, unit, nowMs) <= nowMs &&
      !this.#isTail(trace, unit)
    )
  }

  /** Spans without an agent whose parent never came, of a trace that has a finished run: its end, come too late. */
  #isTail(trace: HeldTrace, { top }: RunUnit): boolean {
    return isDangling(top) && this.#finished.has(trace.traceId)
  }

  #dueMs(trace: HeldTrace, unit: RunUnit, nowMs: number): number {
    const { settleMs, orphanMs, maxAgeMs } = this.#options
    const ageMs = unit.firstSeenMs + maxAgeMs
    const lastSeenMs = trace.isFlat ? latest(trace.units) : unit.lastSeenMs
    const quietMs = lastSeenMs + settleMs
    if (quietMs > nowMs) return Math.min(quietMs, ageMs)
    if (isLoose(unit)) {
      // Their parent, if it is one, is lost to all of them: they are put together from what is left.
      return Math.min(latest([...trace.units].filter(isLoose)) + orphanMs, ageMs)
    }
    const blockedMs = this.#blockedUntil(trace, unit, nowMs)
    return blockedMs > nowMs ? Math.min(nowMs + LOOK_AGAIN_MS, blockedMs, ageMs) : quietMs
  }

  /**
   * Spans that wait for their parent may be part of this unit, or of an agent around it that is still at work: until when they
   * are waited for. Start and end are compared only where one clock wrote both.
   */
  #blockedUntil(trace: HeldTrace, unit: RunUnit, nowMs: number): number {
    let untilMs = nowMs
    for (const waiting of trace.waiting.values()) {
      for (const { unit: other, sender } of waiting) {
        if (other === undefined || other === unit || !isLoose(other) || other.state === 'emitted') continue
        if (sender === unit.top.sender && other.startTimeMs >= unit.endTimeMs) continue
        untilMs = Math.max(untilMs, other.lastSeenMs + this.#options.orphanMs)
      }
    }
    return untilMs
  }

  #take(trace: HeldTrace, units: readonly RunUnit[]): SettledSpans {
    for (const unit of units) unit.state = 'settling'
    return {
      traceId: trace.traceId,
      units,
      spans: units.flatMap((unit) => unit.spans),
      lacksSpans: trace.lacksSpans,
    }
  }

  #finishDue(trace: HeldTrace, unit: RunUnit, nowMs: number, finished: RunUnit[]): void {
    if (unit.lastSeenMs + this.#options.lingerMs > nowMs) this.#due.set(unit, unit.lastSeenMs + this.#options.lingerMs)
    else this.#finish(trace, unit, finished)
  }

  #finish(trace: HeldTrace, unit: RunUnit, finished: RunUnit[]): void {
    unit.state = 'finished'
    trace.units.delete(unit)
    this.#withContent.delete(unit)
    this.#due.delete(unit)
    for (const span of unit.spans) {
      this.#dropContent(span)
      trace.spans.delete(span.spanId)
      for (const child of span.children ?? []) child.parent = undefined
      if (span.parent === undefined && span.parentSpanId !== undefined) {
        const rest = trace.waiting.get(span.parentSpanId)?.filter((other) => other !== span) ?? []
        if (rest.length === 0) trace.waiting.delete(span.parentSpanId)
        else trace.waiting.set(span.parentSpanId, rest)
      }
    }
    finished.push(unit)
    if (trace.units.size === 0 && trace.looseLogs.size === 0) this.#traces.delete(trace.traceId)
  }

  #forgetLoose(trace: HeldTrace): number[] {
    const offsets = new Set([...trace.looseLogs.values()].flatMap((early) => early.map(({ offset }) => offset)))
    trace.looseLogs.clear()
    if (trace.units.size === 0) this.#traces.delete(trace.traceId)
    return [...offsets].filter((offset) => !this.holds(trace.traceId, offset))
  }

  #dropContent(span: HeldSpan): void {
    if (span.source === undefined) return
    span.source = undefined
    span.logs = undefined
    this.#heldSpans -= 1
  }

  /** Too many spans are held: the oldest units are settled as they are. */
  #hurry(nowMs: number, settled: SettledSpans[], finished: RunUnit[]): void {
    if (this.#heldSpans <= this.#options.maxSpans) return
    let excess = this.#heldSpans - this.#options.maxSpans
    for (const unit of this.#withContent) {
      if (excess <= 0) break
      const trace = this.#traces.get(unit.traceId)
      if (trace === undefined || unit.state !== 'open') continue
      excess -= unit.spans.length
      this.counts.hurried += 1
      if (unit.recognised === 0) this.#finish(trace, unit, finished)
      else settled.push({ ...this.#take(trace, [unit]), lacksSpans: unit.lastSeenMs + this.#options.settleMs > nowMs })
    }
  }
}

/** Whether a span waits for its parent and cannot be the outermost one of a run. */
function isDangling({ isAnchor, parentSpanId, parent }: HeldSpan): boolean {
  return !isAnchor && parentSpanId !== undefined && parent === undefined
}

function isLoose(unit: RunUnit): boolean {
  return unit.recognised > 0 && isDangling(unit.top)
}

function adopt(parent: HeldSpan, child: HeldSpan): void {
  child.parent = parent
  ;(parent.children ??= []).push(child)
}

function latest(units: Iterable<RunUnit>): number {
  let latestMs = 0
  for (const { lastSeenMs } of units) latestMs = Math.max(latestMs, lastSeenMs)
  return latestMs
}

function listIn<T>(map: Map<string, T[]>, key: string): T[] {
  const list = map.get(key)
  if (list !== undefined) return list
  const created: T[] = []
  map.set(key, created)
  return created
}

import type { Dialect } from '../../spans/dialect.ts'
import { SdkSourceSpan } from '../../spans/from-sdk-span.ts'
import { dialectOfSdkSpan } from '../../spans/recognise.ts'
import type { SourceLog, SourceSpan } from '../../spans/source-span.ts'
import { AgentRuns } from './agent-runs.ts'
import type { EndedRun } from './ended-run.ts'
import { HandingOver } from './handing-over.ts'
import { layOut } from './lay-out.ts'
import { Settling } from './settling.ts'
import { nearestAbove } from './standing.ts'
import { PlacedSpan } from './trace-place.ts'
import type { TracePlace } from './trace-place.ts'
import type { Eviction, TraceBufferOptions } from './trace-buffer-options.ts'
import { lower } from './trace-tree.ts'
import type { Unit } from './unit.ts'
import { Units } from './units.ts'
import { WaitingUnits } from './waiting-units.ts'

/** Ordinary places of a trace by which children may find their parent. */
const MAX_PLACES = 10_000
/** A trace with more places is laid out in a later turn. */
const MAX_PLACES_IN_HOOK = 1000
/** Log records of a span that no dialect has recognised yet. */
const MAX_EARLY_LOGS = 1000
/** Units that are evicted at a time. One large attribute may take the place of thousands of them. */
const MOST_EVICTED = 100
/** Milliseconds of one turn of the event loop for runs that are due. */
const SLICE_MS = 10

/**
 * The recognised spans of traces whose runs are not final, in a process. The layout is always that of files: of an agent's part of the tree
 * if that is certainly all of its run, or else of the whole trace once nothing in it is open. What is open is known by the order of the
 * hooks, never by timestamps.
 */
export class TraceBuffer {
  readonly #options: TraceBufferOptions
  readonly #units: Units
  readonly #handingOver: HandingOver
  readonly #waiting: WaitingUnits
  readonly #settling: Settling
  readonly #agents: AgentRuns
  /** The runs of agents whose span is ending. */
  readonly #ending = new Map<TracePlace, EndedRun>()
  /** Work that is done in slices. */
  #work: Generator<undefined, void> | undefined

  constructor(options: TraceBufferOptions) {
    this.#options = options
    this.#units = new Units(options)
    this.#handingOver = new HandingOver(this.#units, options)
    this.#waiting = new WaitingUnits(options)
    this.#agents = new AgentRuns({
      options,
      units: this.#units,
      handingOver: this.#handingOver,
      recognise: (place) => this.#askAgain(place),
      quiet: (unit) => this.#quiet(unit),
    })
    this.#settling = new Settling({
      units: this.#units,
      handingOver: this.#handingOver,
      waiting: this.#waiting,
      finish: (unit) => this.#finish(unit),
    })
  }

  /** Runs that have begun and are not final. */
  get openRuns(): number {
    return this.#units.openRuns
  }

  /** Estimated bytes in memory. */
  get heldBytes(): number {
    return this.#units.heldBytes
  }

  /** The next deadline, on the clock of `now`; `undefined` if there is none. */
  get nextDeadlineMs(): number | undefined {
    const { now, settleMs } = this.#options
    if (this.#work !== undefined || this.#units.isOverBounds) return now()
    const [tooIdleMs, agentMs, unitMs] = [this.#units.tooIdleMs, this.#agents.nextMs, this.#waiting.nextMs(settleMs)]
    if (tooIdleMs === undefined) return undefined
    return Math.min(tooIdleMs, agentMs ?? tooIdleMs, unitMs ?? tooIdleMs)
  }

  /** The place of a span of a held trace. */
  placeOf(traceId: string, spanId: string): TracePlace | undefined {
    return this.#units.get(traceId)?.byId.get(spanId)
  }

  /** Must be called when a dialect recognises an open span. Returns whether it is held. */
  hold(place: TracePlace, source: SourceSpan, dialect: Dialect): boolean {
    const nearest = nearestAbove(place, (above) => this.#askAgain(above))
    if (nearest?.isOver === true) {
      place.isOver = true
      place.isAsked = true
      this.#options.onLate()
      return false
    }
    const above = nearest?.span
    const span = new PlacedSpan(place, source, dialect, { above })
    const { top } = span
    if (top !== span) {
      if (top.size >= this.#options.maxSpansPerRun) {
        top.isTruncated = true
        place.isAsked = true
        this.#options.onLate()
        return false
      }
      top.size += 1
    }
    const unit = this.#units.of(source.traceId)
    this.#handingOver.began(dialect)
    unit.add(place, span)
    unit.open += 1
    this.#waiting.leave(unit)
    this.#units.add(unit, span)
    if (above === undefined) {
      place.isSkipped = !unit.isWanted && !this.#options.countsNested && span.role === 'agent'
    }
    for (const log of place.logs ?? []) this.#units.addLog(unit, span, log)
    place.logs = undefined
    this.#keepBounds()
    return true
  }

  /** Stores a log record in which an instrumentation wrote messages, with its span. */
  addLog(place: TracePlace, log: SourceLog): void {
    if (place.isOver) return
    const { span } = place
    const unit = span && this.#units.get(log.traceId)
    if (span !== undefined && unit !== undefined) this.#units.addLog(unit, span, log)
    else if (place.isOpen && (place.logs?.length ?? 0) < MAX_EARLY_LOGS) (place.logs ??= []).push(log)
    this.#keepBounds()
  }

  /**
   * Must be called when a recognised span is ending, from `onEnding`, or from `onEnd` if `onEnding` was not called. Returns the run whose
   * agent it is, if any, for scorers that run now.
   */
  end(place: TracePlace): EndedRun | undefined {
    const { span } = place
    const unit = span && this.#units.get(span.span.traceId)
    if (span === undefined || unit === undefined || !span.isOpen) return this.#ending.get(place)
    const { saidItsKind } = span
    this.#units.end(unit, span)
    place.role = span.role
    place.isOpen = false
    unit.open -= 1
    if (span.isWork && !place.isOver) unit.work += 1
    if (span.isAgent && !place.isOver) unit.candidates.add(place)
    const quiet: TracePlace[] = []
    lower(place, (each) => {
      if (each === place || unit.candidates.has(each)) quiet.push(each)
    })
    // Agents below it may have waited for its kind.
    if (!saidItsKind && place.isActive) quiet.push(...[...unit.candidates].filter((each) => !each.isActive))
    if (!unit.isFlat && !unit.isBeside) for (const each of quiet) this.#agents.decide(each, unit)
    if (place.isActive && unit.candidates.has(place)) this.#agents.waitForBelow(place, span, unit)
    if (unit.open === 0) this.#quiet(unit)
    const run = unit.runs.get(span)
    if (run !== undefined) this.#ending.set(place, run)
    this.#keepBounds()
    return run
  }

  /** Must be called when any span has ended, after `end` if it is recognised. Passes on the runs that are final. */
  ended(place: TracePlace, traceId: string): void {
    if (place.span === undefined && this.#units.size > 0) {
      const unit = this.#units.get(traceId)
      // A child may still name it by its ids.
      if (unit !== undefined && unit.byId.size < MAX_PLACES) unit.register(place)
    }
    place.isOpen = false
    if (place.span === undefined && place.below !== undefined) place.surrounding = place.describes()
    place.sdk = undefined
    this.#ending.delete(place)
    if (place.isCut) this.#options.onLate()
    if (place.isAwaited) {
      for (const unit of this.#waiting.around(place)) {
        if (unit.isDone || unit.open > 0 || this.#waiting.waitsAround(unit)) continue
        if (isFinished(unit)) this.#finish(unit)
        else this.#waiting.free(unit)
      }
    }
    if (this.#handingOver.hasDue) for (const _ of this.#handingOver.passOn());
  }

  /** Hands over what has waited long enough, as far as there is time, and the rest in later turns. */
  sweep(): void {
    const { now } = this.#options
    const endMs = now() + SLICE_MS
    this.#work ??= this.#due()
    do {
      if (this.#work.next().done !== true) continue
      this.#work = undefined
      return
    } while (now() < endMs)
  }

  /** Hands over, in steps, all that waits for further model calls by the clock. Runs with open spans keep waiting. */
  *flush(): Generator<undefined, void> {
    yield* this.#goOn()
    yield* this.#agents.layOutLarge()
    yield* this.#settling.settle(this.#waiting.take(Number.POSITIVE_INFINITY))
    // A sweep may have begun meanwhile.
    yield* this.#goOn()
  }

  /** Hands over, in steps, the runs of all agents that have ended, for example at shutdown. */
  *settleAgents(): Generator<undefined, void> {
    yield* this.#goOn()
    for (const unit of Array.from(this.#units)) {
      if (unit.candidates.size + unit.large.size > 0) this.#handingOver.final(layOut(unit.roots), false)
      this.#agents.leave(unit)
      yield* this.#handingOver.passOn()
    }
  }

  /** Hands over, in steps, everything that has ended, whatever is open around it. Must be called after `settleAgents`. */
  *giveUpWaiting(): Generator<undefined, void> {
    yield* this.#settling.settle(Array.from(this.#units), true)
    // A sweep may have begun meanwhile.
    yield* this.#goOn()
    yield* this.#handingOver.passOn()
  }

  /** Most hand-written spans get their attributes after their start. */
  #askAgain(place: TracePlace): void {
    const { sdk } = place
    if (sdk === undefined || place.isAsked) return
    const dialect = dialectOfSdkSpan(sdk)
    if (dialect !== undefined && dialect !== 'ordinary') {
      this.hold(place, new SdkSourceSpan(sdk, place.startOrder), dialect)
    }
  }

  /** Must be called when no recognised span of a unit is open. */
  #quiet(unit: Unit): void {
    if (unit.large.size > 0) return
    if (unit.isFlat) {
      this.#waiting.pause(unit)
      if (unit.candidates.size === 0) return
      // Once the last graph has ended, all flat spans can be placed.
      const flat = Array.from(this.#units).filter((each) => each.isFlat)
      if (flat.every(({ open }) => open === 0)) for (const _ of this.#settling.settleTogether(flat));
      return
    }
    if (unit.candidates.size > 0) {
      if (unit.byId.size > MAX_PLACES_IN_HOOK) {
        this.#waiting.free(unit)
        return
      }
      this.#handingOver.final(layOut(unit.roots), false)
      this.#agents.leave(unit)
    }
    // While a span around it is open, more spans may come.
    if (this.#waiting.waitsAround(unit)) {
      this.#units.forgetFinal(unit)
      return
    }
    if (isFinished(unit)) this.#finish(unit)
    else this.#waiting.pause(unit)
  }

  *#goOn(): Generator<undefined, void> {
    const work = this.#work
    this.#work = undefined
    if (work !== undefined) yield* work
  }

  /** Does what is due by the clock, in steps. */
  *#due(): Generator<undefined, void> {
    const { now, settleMs } = this.#options
    this.#keepBounds()
    const { oldest, tooIdleMs = Number.POSITIVE_INFINITY } = this.#units
    if (oldest !== undefined && tooIdleMs <= now()) this.#evict(oldest, 'idle')
    const beforeMs = now() - settleMs
    yield* this.#agents.expire(beforeMs)
    yield* this.#agents.layOutLarge()
    yield* this.#settling.settle(this.#waiting.take(beforeMs))
    yield* this.#handingOver.passOn()
  }

  #finish(unit: Unit): void {
    this.#waiting.leave(unit)
    this.#agents.leave(unit)
    this.#units.finish(unit)
  }

  /** Evicts the units in which nothing has happened for longest while there are too many open runs, or they hold too much. The next sweep evicts what is left. */
  #keepBounds(): void {
    for (let left = MOST_EVICTED; this.#units.isOverBounds; left -= 1) {
      if (left === 0) return this.#options.onWaiting()
      if (this.#units.oldest !== undefined) this.#evict(this.#units.oldest, 'bounds')
    }
  }

  /** Hands over what has ended of a unit, and gives up the rest. */
  #evict(unit: Unit, why: Eviction): void {
    if (unit.candidates.size + unit.large.size > 0) this.#handingOver.final(layOut(unit.roots), false)
    this.#handingOver.evict(unit, why)
    this.#finish(unit)
  }
}

/** Whether all that a unit has done is in final runs. An agent that has ended without work may still get some. */
function isFinished({ work, runs }: Unit): boolean {
  return work <= 0 && runs.size > 0
}

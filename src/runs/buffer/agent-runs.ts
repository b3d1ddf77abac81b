import type { RunPlan } from '../layout/run-layout.ts'
import { ReadEstimate } from '../read-bytes.ts'
import type { HandingOver } from './handing-over.ts'
import { layOut } from './lay-out.ts'
import { standingOf } from './standing.ts'
import type { PlacedSpan, TracePlace } from './trace-place.ts'
import type { TraceBufferOptions } from './trace-buffer-options.ts'
import type { Unit } from './unit.ts'
import type { Units } from './units.ts'

/** The parts of the buffer that agents' runs need. */
export interface AgentRunsParts {
  readonly options: TraceBufferOptions
  readonly units: Units
  readonly handingOver: HandingOver
  /** Looks again whether a dialect recognises an open span. */
  readonly recognise: (place: TracePlace) => void
  /** Must be called when nothing in a unit is open. */
  readonly quiet: (unit: Unit) => void
}

/** Decides when the runs of ended agents are laid out: at once, when nothing below them is open any more, or when they have waited enough. */
export class AgentRuns {
  readonly #parts: AgentRunsParts
  /** Ended agents that wait for open spans below them: since when. Those that have waited longest come first. */
  readonly #waiting = new Map<TracePlace, number>()
  /** Units with runs that are too large to be laid out while a span is ending. */
  readonly #large = new Set<Unit>()

  constructor(parts: AgentRunsParts) {
    this.#parts = parts
  }

  /** When the next run is due; `undefined` if none waits. */
  get nextMs(): number | undefined {
    const { now, settleMs } = this.#parts.options
    if (this.#large.size > 0) return now()
    for (const sinceMs of this.#waiting.values()) return sinceMs + settleMs
    return undefined
  }

  /** Lays out an ended agent with all below it, if nothing there is open and no open span above can be its agent. */
  decide(place: TracePlace, unit: Unit): void {
    const { span } = place
    if (span === undefined || span.isOpen || (!span.isAgent && unit.candidates.size === 0)) return
    const standing = standingOf(place, span, this.#parts)
    if (standing === 'not-yet' || (standing === 'run' && unit.mayOwnLost(place))) return
    this.#waiting.delete(place)
    unit.candidates.delete(place)
    if (standing === 'part') return
    const isSmall = surveyOf(place, this.#parts.options.maxSyncBytes).readBytes <= this.#parts.options.maxSyncBytes
    if (standing === 'nested') {
      // Otherwise it is handed over with the run around it.
      const plan = isSmall ? planOf(span) : undefined
      if (plan !== undefined) this.#parts.handingOver.finalNested(plan, unit)
    } else if (isSmall) this.#parts.handingOver.final(layOut([place]), false)
    else this.#layOutLater(place, span, unit)
  }

  #layOutLater(place: TracePlace, span: PlacedSpan, unit: Unit): void {
    unit.large.add(place)
    this.#large.add(unit)
    this.#parts.options.onWaiting()
    if (span.role === 'agent') this.#parts.handingOver.promise(span, unit)
  }

  /** An agent has ended, and spans below it are open. Attributes can only be written now, so scorers that need no more may run at once. */
  waitForBelow(place: TracePlace, span: PlacedSpan, unit: Unit): void {
    const { maxSyncBytes, now, onWaiting } = this.#parts.options
    const isByParents = !unit.isFlat && !unit.isBeside
    const standing = isByParents ? standingOf(place, span, this.#parts) : 'not-yet'
    if (standing === 'part') {
      unit.candidates.delete(place)
      return
    }
    this.#waiting.set(place, now())
    onWaiting()
    if (standing === 'not-yet' || (standing === 'run' && unit.mayOwnLost(place))) return
    const { readBytes, hasUnknown } = surveyOf(place, maxSyncBytes)
    // Of an entry, it is only known that it is the agent once all below it have shown that they are none.
    if (hasUnknown && span.role === 'entry' && !span.holdsOneRun) return
    if (readBytes > maxSyncBytes) {
      if (standing === 'run' && span.role === 'agent') this.#parts.handingOver.promise(span, unit)
      return
    }
    const plan = planOf(span)
    if (plan !== undefined) this.#parts.handingOver.early(plan, standing)
  }

  /** Must be called when nothing in a unit waits any more. */
  leave(unit: Unit): void {
    for (const place of unit.candidates) this.#waiting.delete(place)
    unit.candidates.clear()
    unit.large.clear()
    this.#large.delete(unit)
  }

  /** Hands over, in steps, the runs that have waited for open spans since before that time. */
  *expire(beforeMs: number): Generator<undefined, void> {
    for (const [place, sinceMs] of this.#waiting) {
      if (sinceMs > beforeMs) break
      this.#waiting.delete(place)
      this.#expire(place)
      yield* this.#parts.handingOver.passOn()
    }
  }

  /** Lays out large runs, in steps. */
  *layOutLarge(): Generator<undefined, void> {
    for (const unit of this.#large) {
      this.#large.delete(unit)
      for (const place of unit.large) {
        unit.large.delete(place)
        if (place.span !== undefined) this.#parts.handingOver.final(layOut([place]), false)
        yield* this.#parts.handingOver.passOn()
      }
      if (!unit.isDone && unit.open === 0) this.#parts.quiet(unit)
    }
  }

  /** The run of an agent has waited long enough for the open spans below it. */
  #expire(place: TracePlace): void {
    const { span } = place
    const unit = span && this.#parts.units.get(span.span.traceId)
    if (span === undefined || unit === undefined || !unit.candidates.has(place)) return
    const isByParents = !unit.isFlat && !unit.isBeside && unit.lost === 0
    const plans = layOut(isByParents ? [place] : unit.roots)
    const plan = plans.find(({ root }) => root === span)
    if (plan === undefined) return
    if (this.#parts.options.rescore) this.#parts.handingOver.unfinished(plan)
    else this.#parts.handingOver.final([plan], false)
  }
}

/** The run of an agent, from all that is in its part of the tree; `undefined` if the span is none. */
function planOf(agent: PlacedSpan): RunPlan | undefined {
  return layOut([agent.place]).find(({ root }) => root === agent)
}

/** What is known of a part of a tree without laying it out. */
interface Survey {
  /** Estimated bytes of content that are read of it. Above the limit, they are not counted to the end. */
  readonly readBytes: number
  /** Whether the kind of an open span in it is not known. */
  readonly hasUnknown: boolean
}

/** Looks over a place with all below it, up to a limit: an agent may be nested in thousands of others, each of which is surveyed. */
function surveyOf(top: TracePlace, maxBytes: number): Survey {
  const estimate = new ReadEstimate()
  let hasUnknown = false
  const waiting = [top]
  for (let place = waiting.pop(); place !== undefined && estimate.leastBytes <= maxBytes; place = waiting.pop()) {
    const { span, below } = place
    if (span !== undefined) {
      estimate.add(span)
      if (span.isOpen) {
        span.lookAgain()
        if (!span.saidItsKind) hasUnknown = true
      }
    }
    if (below !== undefined) waiting.push(...below)
  }
  return { readBytes: estimate.bytes, hasUnknown }
}

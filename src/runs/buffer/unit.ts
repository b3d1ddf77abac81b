import { addBelow } from '../layout/assign-spans.ts'
import type { EndedRun } from './ended-run.ts'
import type { PlacedSpan, TracePlace } from './trace-place.ts'
import { TraceTree } from './trace-tree.ts'

/** Above so many spans of final runs, those of the oldest are dropped, because a trace may go on for days. */
const MAX_COVERED = 256

/** A trace whose runs are not all final: its tree, with what is open in it and what waits. */
export class Unit extends TraceTree {
  /** When a span of it last began or ended, on the buffer's clock. */
  activeMs: number
  /** Whether any scorer could want a run of this trace. */
  readonly isWanted: boolean
  /** Open recognised spans. */
  open = 0
  /** Ended model and tool calls that are in no final run. */
  work = 0
  /** Estimated bytes in memory. */
  heldBytes = 0
  /** Ended agents whose runs are not final. */
  readonly candidates: Set<TracePlace> = new Set()
  /** Outermost spans of runs that are not final. */
  readonly tops: Set<PlacedSpan> = new Set()
  /** What was handed over, by the span that identifies the run. */
  readonly runs: Map<PlacedSpan, EndedRun> = new Map()
  /** Agents that are laid out in a later turn, because their runs are large. */
  readonly large: Set<TracePlace> = new Set()
  isDone = false
  /** The open span around it for whose end it waits. */
  around: TracePlace | undefined
  /** Its neighbours in the order of units. Only `Units` writes them. */
  older: Unit | undefined
  newer: Unit | undefined
  /** The places of agents with final runs, and how many spans these have. */
  readonly #final: { readonly top: TracePlace; readonly size: number }[] = []
  #covered = 0

  constructor(traceId: string, isWanted: boolean, nowMs: number) {
    super(traceId)
    this.isWanted = isWanted
    this.activeMs = nowMs
  }

  /** Records that a span is in a final run: it belongs to no other one, and what begins below it is late. */
  cover(span: PlacedSpan): void {
    span.isCovered = true
    span.place.isOver = true
    if (span.isWork && !span.isOpen && !span.place.isCut) this.work -= 1
    this.candidates.delete(span.place)
  }

  /** Records that the run of an agent is final. */
  addFinal(top: TracePlace, size: number): void {
    this.#final.push({ top, size })
    this.#covered += size
  }

  /** Drops the oldest final runs if there are many. Calls back for each of their spans. */
  forgetFinal(onForgotten: (span: PlacedSpan) => void): void {
    while (this.#covered > MAX_COVERED) {
      const oldest = this.#final.shift()
      if (oldest === undefined) return
      this.#covered -= oldest.size
      if (oldest.top.span !== undefined && !oldest.top.isActive) this.#forget(oldest.top, oldest.top.span, onForgotten)
    }
  }

  #forget(top: TracePlace, agent: PlacedSpan, onForgotten: (span: PlacedSpan) => void): void {
    let { above } = top
    while (above !== undefined && above.span === undefined) above = above.above
    // A workflow with an agent below it is none.
    if (above?.span !== undefined) {
      const forgotten = { hasWork: false, hasAgents: false, ...above.span.forgottenBelow }
      addBelow(forgotten, agent, { hasWork: true, hasAgents: true })
      above.span.forgottenBelow = forgotten
    }
    this.remove(top, (place) => {
      const { span } = place
      if (span !== undefined) {
        this.runs.delete(span)
        onForgotten(span)
      }
      leave(place)
    })
  }

  /** Forgets all places. Those of the SDK's spans, which may be in a queue for long, refer to nothing from now on. */
  finish(): void {
    this.isDone = true
    for (const place of this.byId.values()) leave(place)
  }
}

function leave(place: TracePlace): void {
  if (place.span?.isOpen === true) {
    place.isOver = true
    place.isCut = true
  }
  place.span = undefined
  place.below = undefined
  place.isListed = false
  place.openBelow = 0
}

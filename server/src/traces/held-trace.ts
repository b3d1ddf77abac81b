import { TraceTree } from 'spanscore/engine'

import type { DueItem } from './due-times.ts'
import type { BodyOwner, HeldBytes } from './held-contents.ts'
import type { HeldLog, HeldSpan } from './held-span.ts'

/** The tree of a trace, as far as its spans have arrived and are needed. */
export class HeldTrace extends TraceTree implements DueItem, BodyOwner {
  declare readonly byId: Map<string, HeldSpan>
  declare readonly roots: Set<HeldSpan>
  dueSlot: number | undefined
  bodies = 0
  /** Estimated bytes of its content in memory, or if it were in memory. */
  bytes = 0
  /** True once a limit has left out spans. */
  lacksSpans = false
  /** Log records that arrived before their span. */
  readonly looseLogs: Map<string, HeldLog[]> = new Map()

  get isEmpty(): boolean {
    return this.byId.size === 0 && this.looseLogs.size === 0
  }

  *contents(): Iterable<HeldBytes> {
    for (const span of this.byId.values()) {
      yield span
      if (span.held !== undefined) yield* span.held
    }
    for (const logs of this.looseLogs.values()) yield* logs
  }

  /** Adds a span that has arrived. */
  hold(span: HeldSpan): void {
    this.record(span)
    this.list(span)
    this.bytes += span.size
    this.isFlat ||= span.isFlat
    const early = this.looseLogs.get(span.spanId)
    if (early === undefined) return
    this.looseLogs.delete(span.spanId)
    span.held = early
  }

  /**
   * The spans that are settled together: each outermost agent with everything below it, and, without an agent, spans that are connected by
   * their parents.
   */
  units(): readonly RunUnit[] {
    const tops = [...this.roots]
    const units: RunUnit[] = []
    for (const top of tops) {
      const unit = new RunUnit(top)
      const waiting = [top]
      for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
        unit.add(span)
        if (span.below === undefined) continue
        for (const child of span.below) (isOutermostAgent(child, top) ? tops : waiting).push(child)
      }
      units.push(unit)
    }
    return units
  }

  /** Forgets the spans of a unit. Units below it go on. */
  finish({ top, spans }: RunUnit): void {
    for (const span of spans) {
      span.isOver = true
      this.bytes -= span.size
    }
    this.remove(
      top,
      ({ spanId }) => this.byId.delete(spanId),
      ({ isOver }) => !isOver,
    )
  }
}

/** Spans that are settled together, as of the latest look at their trace. All times are times of the log. */
export class RunUnit {
  /** The outermost of its spans. */
  readonly top: HeldSpan
  readonly spans: HeldSpan[] = []
  /** The number of its recognised spans. */
  recognised = 0
  isScoring = false
  /** Whether spans of it are in no acknowledged score. */
  isOpen = false
  /** When the first and the latest of these arrived. */
  firstSeenMs: number = Number.POSITIVE_INFINITY
  lastSeenMs: number = Number.NEGATIVE_INFINITY
  /** When the latest scores of others were acknowledged. */
  scoredMs: number = Number.NEGATIVE_INFINITY

  constructor(top: HeldSpan) {
    this.top = top
  }

  /** Whether it waits for a parent. */
  get isLoose(): boolean {
    return this.recognised > 0 && this.top.isDangling
  }

  add(span: HeldSpan): void {
    const { sinceMs } = span
    this.spans.push(span)
    if (span.isRecognised) this.recognised += 1
    if (span.isScoring) this.isScoring = true
    if (span.isSettled) {
      if (sinceMs > this.scoredMs) this.scoredMs = sinceMs
      return
    }
    this.isOpen = true
    if (sinceMs < this.firstSeenMs) this.firstSeenMs = sinceMs
    if (sinceMs > this.lastSeenMs) this.lastSeenMs = sinceMs
  }
}

function isOutermostAgent(span: HeldSpan, top: HeldSpan): boolean {
  return span.isAnchor && !top.isAnchor
}

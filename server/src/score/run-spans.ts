import { toSpanSet } from 'spanscore/engine'
import type { AgentRun, SpanSet } from 'spanscore/engine'

import type { SettledSpans } from '../traces/held-traces.ts'
import type { HeldSpan } from '../traces/held-span.ts'

/** The recognised spans of a run, and whether scores of it were already acknowledged. */
export interface RunMembers {
  readonly spans: SpanSet
  /** Whether some of them, or of their log records, are in no acknowledged score yet. */
  readonly isNew: boolean
  readonly hasBeenScored: boolean
}

/** Finds the spans of each run that was reconstructed from settled spans. */
export class RunSpans {
  readonly #settled: SettledSpans
  readonly #byId: ReadonlyMap<string, HeldSpan>
  readonly #isFlat: boolean
  /** The members of all runs without an agent, because there may be thousands of such runs. */
  #all: Omit<RunMembers, 'hasBeenScored'> | undefined

  constructor(settled: SettledSpans) {
    this.#settled = settled
    this.#byId = new Map(settled.spans.map((span) => [span.spanId, span]))
    this.#isFlat = settled.spans.some((span) => span.isFlat)
  }

  /** The recognised spans of a run: everything below its agent, or, without an agent, everything that was settled with it. */
  of({ spanId }: AgentRun): RunMembers {
    const top = this.#byId.get(spanId)
    const isAlone = top === undefined || !top.isAnchor || this.#isFlat
    const members = isAlone ? (this.#all ??= membersIn(this.#settled.spans)) : membersIn(this.#below(top))
    return { ...members, hasBeenScored: top?.isEmitted === true && !top.isRepeated }
  }

  /** A run is offered to the scorers. @returns how often it was before */
  offered({ spanId }: AgentRun): number {
    const top = this.#byId.get(spanId)
    if (top === undefined) return 0
    top.timesOffered += 1
    return top.timesOffered - 1
  }

  /** A run is left out, because its scores were delivered before these spans came. It stays so with every further span. */
  leaveOut({ spanId }: AgentRun): void {
    const top = this.#byId.get(spanId)
    if (top !== undefined) top.isRepeated = true
  }

  #below(top: HeldSpan): readonly HeldSpan[] {
    const found = [top]
    for (const span of found) {
      // Spans may have arrived since these were settled.
      for (const child of span.below ?? []) if (this.#byId.get(child.spanId) === child) found.push(child)
    }
    return found
  }
}

function membersIn(spans: readonly HeldSpan[]): Omit<RunMembers, 'hasBeenScored'> {
  const members = spans.filter((span) => span.isRecognised)
  const withLogs = members.filter((span) => span.usedLogs.length > 0)
  return { spans: toSpanSet(idsOf(members), idsOf(withLogs)), isNew: members.some((span) => !span.isSettled) }
}

function idsOf(spans: readonly HeldSpan[]): readonly string[] {
  return spans.map((span) => span.spanId)
}

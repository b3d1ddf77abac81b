import { layOut } from './link-spans.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { spansOf } from './ended-run.ts'
import type { HandingOver } from './handing-over.ts'
import { readForLayout } from './read-ahead.ts'
import type { LiveSpan } from './tree-node.ts'
import type { OpenTrace } from './open-trace.ts'
import type { OpenTraces } from './open-traces.ts'
import type { WaitingTraces } from './waiting-traces.ts'

/** OpenTraces without an agent that are laid out together, and others beside them whose runs they may share. */
const MAX_TOGETHER = 256
const MAX_BESIDE = 64

/** The parts of the buffer that settling needs. */
export interface SettlingParts {
  readonly traces: OpenTraces
  readonly handingOver: HandingOver
  readonly waiting: WaitingTraces
  /** Forgets an open trace. */
  readonly finish: (trace: OpenTrace) => void
}

/** Makes the runs of whole open traces final, with those that no agent started. */
export class Settling {
  readonly #parts: SettlingParts

  constructor(parts: SettlingParts) {
    this.#parts = parts
  }

  /** Lays out open traces whose calls without an agent have waited long enough, some at a time. */
  *settle(traces: readonly OpenTrace[], isLast = false): Generator<undefined, void> {
    for (let at = 0; at < traces.length; at += MAX_TOGETHER) {
      yield* this.settleTogether(traces.slice(at, at + MAX_TOGETHER), isLast)
      yield* this.#parts.handingOver.passOn()
    }
  }

  /** Lays out some open traces, with all others that their runs may share. Does not pass on their runs. */
  *settleTogether(traces: readonly OpenTrace[], isLast = false): Generator<undefined, void> {
    const { handingOver, waiting, finish } = this.#parts
    const isDue = (trace: OpenTrace): boolean => !trace.isDone && (isLast || trace.open === 0)
    for (const trace of traces) {
      if (trace.isWanted || !isDue(trace)) continue
      if (trace.candidates.size > 0) handingOver.final(layOut(trace.roots), false)
      if (trace.work > 0) handingOver.unwanted(trace)
      if (trace.open === 0) finish(trace)
    }
    const asked = new Set(traces.filter((trace) => trace.isWanted && isDue(trace)))
    if (asked.size === 0) return
    const all = new Set(asked)
    for (const trace of this.#parts.traces) {
      if (all.size >= asked.size + MAX_BESIDE) break
      if (trace.work > 0 && trace.isWanted) all.add(trace)
    }
    for (const trace of all) yield* readForLayout(workOf(trace))
    const due = new Set([...asked].filter(isDue))
    const roots = [...all].flatMap((trace) => (trace.isDone ? [] : [...trace.roots]))
    const plans = layOut(roots, { known: handingOver.knownBeside(all), onDuplicate: handingOver.duplicate })
    // A run that another open trace shares waits for that.
    const later = new Set<OpenTrace>()
    const ready = plans.filter((plan) => {
      const shared = this.#tracesOf(plan)
      if (!shared.some((trace) => due.has(trace))) return false
      const isReady = shared.every((trace) => due.has(trace))
      if (!isReady) for (const trace of shared) later.add(trace)
      return isReady
    })
    handingOver.final(ready, true)
    for (const trace of due) {
      if (later.has(trace)) waiting.pause(trace)
      else if (trace.open === 0) finish(trace)
    }
  }

  /** The open traces with spans of a run. */
  #tracesOf(plan: RunPlan): readonly OpenTrace[] {
    const found = new Set<OpenTrace>()
    for (const { span } of spansOf(plan)) {
      const trace = this.#parts.traces.get(span.traceId)
      if (trace !== undefined) found.add(trace)
    }
    return [...found]
  }
}

/** The spans whose content a layout reads: those of model calls without an agent, and of libraries that write all spans side by side. */
function* workOf({ byId }: OpenTrace): Generator<LiveSpan> {
  for (const { span } of byId.values()) if (span !== undefined && !span.isOpen && !span.isCovered) yield span
}

import type { RunPlan } from '../layout/run-layout.ts'
import { ReadEstimate } from '../read-bytes.ts'
import type { HandingOver } from './handing-over.ts'
import { layOut } from './link-spans.ts'
import { spanReadiness } from './readiness.ts'
import type { LiveSpan, TreeNode } from './tree-node.ts'
import type { TraceBufferOptions } from './trace-buffer-options.ts'
import type { OpenTrace } from './open-trace.ts'
import type { OpenTraces } from './open-traces.ts'

/** The parts of the buffer that agents' runs need. */
export interface AgentRunsParts {
  readonly options: TraceBufferOptions
  readonly traces: OpenTraces
  readonly handingOver: HandingOver
  /** Looks again whether a dialect recognises an open span. */
  readonly recognise: (node: TreeNode) => void
  /** Must be called when nothing in an open trace is open. */
  readonly quiet: (trace: OpenTrace) => void
}

/** Decides when the runs of ended agents are laid out: at once, when nothing below them is open any more, or when they have waited enough. */
export class AgentRuns {
  readonly #parts: AgentRunsParts
  /** Ended agents that wait for open spans below them: since when. Those that have waited longest come first. */
  readonly #waiting = new Map<TreeNode, number>()
  /** OpenTraces with runs that are too large to be laid out while a span is ending. */
  readonly #large = new Set<OpenTrace>()

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
  decide(node: TreeNode, trace: OpenTrace): void {
    const { span } = node
    if (span === undefined || span.isOpen || (!span.isAgent && trace.candidates.size === 0)) return
    const readiness = spanReadiness(node, span, this.#parts)
    if (readiness === 'not-yet' || (readiness === 'run' && trace.mayOwnLost(node))) return
    this.#waiting.delete(node)
    trace.candidates.delete(node)
    if (readiness === 'part') return
    const isSmall = surveyOf(node, this.#parts.options.maxSyncBytes).readBytes <= this.#parts.options.maxSyncBytes
    if (readiness === 'nested') {
      // Otherwise it is handed over with the run around it.
      const plan = isSmall ? planOf(span) : undefined
      if (plan !== undefined) this.#parts.handingOver.finalNested(plan, trace)
    } else if (isSmall) this.#parts.handingOver.final(layOut([node]), false)
    else this.#layOutLater(node, span, trace)
  }

  #layOutLater(node: TreeNode, span: LiveSpan, trace: OpenTrace): void {
    trace.large.add(node)
    this.#large.add(trace)
    this.#parts.options.onWaiting()
    if (span.role === 'agent') this.#parts.handingOver.promise(span, trace)
  }

  /** An agent has ended, and spans below it are open. Attributes can only be written now, so scorers that need no more may run at once. */
  waitForBelow(node: TreeNode, span: LiveSpan, trace: OpenTrace): void {
    const { maxSyncBytes, now, onWaiting } = this.#parts.options
    const isByParents = !trace.isFlat && !trace.isBeside
    const readiness = isByParents ? spanReadiness(node, span, this.#parts) : 'not-yet'
    if (readiness === 'part') {
      trace.candidates.delete(node)
      return
    }
    this.#waiting.set(node, now())
    onWaiting()
    if (readiness === 'not-yet' || (readiness === 'run' && trace.mayOwnLost(node))) return
    const { readBytes, hasUnknown } = surveyOf(node, maxSyncBytes)
    // Of an entry, it is only known that it is the agent once all below it have shown that they are none.
    if (hasUnknown && span.role === 'entry' && !span.isSingleRun) return
    if (readBytes > maxSyncBytes) {
      if (readiness === 'run' && span.role === 'agent') this.#parts.handingOver.promise(span, trace)
      return
    }
    const plan = planOf(span)
    if (plan !== undefined) this.#parts.handingOver.early(plan, readiness)
  }

  /** Must be called when nothing in an open trace waits any more. */
  leave(trace: OpenTrace): void {
    for (const node of trace.candidates) this.#waiting.delete(node)
    trace.candidates.clear()
    trace.large.clear()
    this.#large.delete(trace)
  }

  /** Hands over, in steps, the runs that have waited for open spans since before that time. */
  *expire(beforeMs: number): Generator<undefined, void> {
    for (const [node, sinceMs] of this.#waiting) {
      if (sinceMs > beforeMs) break
      this.#waiting.delete(node)
      this.#expire(node)
      yield* this.#parts.handingOver.passOn()
    }
  }

  /** Lays out large runs, in steps. */
  *layOutLarge(): Generator<undefined, void> {
    for (const trace of this.#large) {
      this.#large.delete(trace)
      for (const node of trace.large) {
        trace.large.delete(node)
        if (node.span !== undefined) this.#parts.handingOver.final(layOut([node]), false)
        yield* this.#parts.handingOver.passOn()
      }
      if (!trace.isDone && trace.open === 0) this.#parts.quiet(trace)
    }
  }

  /** The run of an agent has waited long enough for the open spans below it. */
  #expire(node: TreeNode): void {
    const { span } = node
    const trace = span && this.#parts.traces.get(span.span.traceId)
    if (span === undefined || trace === undefined || !trace.candidates.has(node)) return
    const isByParents = !trace.isFlat && !trace.isBeside && trace.lost === 0
    const plans = layOut(isByParents ? [node] : trace.roots)
    const plan = plans.find(({ root }) => root === span)
    if (plan === undefined) return
    if (this.#parts.options.rescore) this.#parts.handingOver.unfinished(plan)
    else this.#parts.handingOver.final([plan], false)
  }
}

/** The run of an agent, from all that is in its part of the tree; `undefined` if the span is none. */
function planOf(agent: LiveSpan): RunPlan | undefined {
  return layOut([agent.node]).find(({ root }) => root === agent)
}

/** What is known of a part of a tree without laying it out. */
interface Survey {
  /** Estimated bytes of content that are read of it. Above the limit, they are not counted to the end. */
  readonly readBytes: number
  /** Whether the kind of an open span in it is not known. */
  readonly hasUnknown: boolean
}

/** Looks over a node with all below it, up to a limit: an agent may be nested in thousands of others, each of which is surveyed. */
function surveyOf(top: TreeNode, maxBytes: number): Survey {
  const estimate = new ReadEstimate()
  let hasUnknown = false
  const waiting = [top]
  for (let node = waiting.pop(); node !== undefined && estimate.leastBytes <= maxBytes; node = waiting.pop()) {
    const { span, below } = node
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

import type { AgentRun } from '../../model/agent-run.ts'
import { assembleRuns } from '../assemble-runs.ts'
import type { Deadlines } from './deadlines.ts'
import { LiveRun } from './live-run.ts'
import type { SpanGroups } from './span-groups.ts'
import { beganHere, outermostOpen } from './local-span.ts'
import type { LocalSpan } from './local-span.ts'
import type { SpanGroup, SpanNode } from './span-node.ts'

/** The parts of the store that runs without an agent are told by. */
export interface BareRunsParts {
  readonly groups: SpanGroups
  readonly deadlines: Deadlines
  readonly onSettled: (run: LiveRun) => void
  readonly close: (group: SpanGroup) => void
}

/**
 * Model calls with no agent above them. They may go on, as long as something around them is open: their runs end with the
 * outermost open span of this process that they are below, else when they have been waited for by the clock.
 */
export class BareRuns {
  readonly #parts: BareRunsParts
  /** The span that is waited for, and the trace whose calls wait. */
  readonly #anchored = new Map<LocalSpan, string>()

  constructor(parts: BareRunsParts) {
    this.#parts = parts
  }

  /** All spans of a group have ended, and none of them is an agent. */
  wait(group: SpanGroup): void {
    const { deadlines } = this.#parts
    const anchor = outermostOpen(group.nodes[0]?.local.above)
    if (anchor === undefined) deadlines.add(() => this.#settle(group.traceId))
    else this.#anchored.set(anchor, group.traceId)
  }

  /** To be called when any span of this process has ended. */
  spanEnded(span: LocalSpan): void {
    const trace = this.#anchored.size === 0 ? undefined : this.#anchored.get(span)
    if (trace === undefined) return
    this.#anchored.delete(span)
    this.#settle(trace)
  }

  /** Ends those that wait by the clock; those below an open span go on waiting. */
  settleAll(): void {
    const waiting = [...this.#parts.groups].filter(isWaiting)
    for (const traceId of new Set(waiting.map((group) => group.traceId))) this.#settle(traceId)
  }

  /** Ends all of them, whatever is open around them. */
  giveUpWaiting(): void {
    const traces = new Set(this.#anchored.values())
    this.#anchored.clear()
    for (const trace of traces) this.#settle(trace, true)
  }

  #settle(traceId: string, evenIfOpen = false): void {
    const { groups, close } = this.#parts
    const due = groups.ofTrace(traceId).filter(isWaiting)
    const anchor = due
      .map((group) => outermostOpen(group.nodes[0]?.local.above))
      .find((open) => open !== undefined && !evenIfOpen)
    if (anchor !== undefined) {
      this.#anchored.set(anchor, traceId)
      return
    }
    this.#tell(due)
    for (const group of due) close(group)
  }

  #tell(due: readonly SpanGroup[]): void {
    const nodes = due.flatMap((group) => group.nodes)
    const logs = due.flatMap((group) => group.logs)
    const assembly = { nodes, logs, revision: 1, lacksSpans: false } as const
    const runs = due[0]?.wanted === true ? assembleRuns(assembly) : [undefined]
    for (const run of runs) {
      const node = lastCall(nodes, run)
      if (node === undefined) continue
      const live = new LiveRun(node, 'bare', {
        members: () => nodes,
        build: () => run,
        hasOpenSpans: () => false,
        beganHere: () => beganHere(node.local),
      })
      live.freeze()
      this.#parts.onSettled(live)
    }
  }
}

function isWaiting(group: SpanGroup): boolean {
  return group.openCount === 0 && !group.hasRun
}

/** The span of the last model call, to which the score of a run without an agent belongs. */
function lastCall(nodes: readonly SpanNode[], run: AgentRun | undefined): SpanNode | undefined {
  const spanId = run?.steps.findLast((step) => step.spanId !== undefined)?.spanId ?? run?.spanId
  return nodes.find((node) => node.source.spanId === spanId) ?? nodes.at(-1)
}

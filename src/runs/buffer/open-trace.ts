import { addBelow } from '../layout/assign-spans.ts'
import type { EndedRun } from './ended-run.ts'
import type { LiveSpan, TreeNode } from './tree-node.ts'
import { TraceTree } from './trace-tree.ts'

/** Above so many spans of final runs, those of the oldest are dropped, because a trace may go on for days. */
const MAX_COVERED = 256

/** A trace whose runs are not all final: its tree, with what is open in it and what waits. */
export class OpenTrace extends TraceTree {
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
  readonly candidates: Set<TreeNode> = new Set()
  /** Outermost spans of runs that are not final. */
  readonly tops: Set<LiveSpan> = new Set()
  /** What was handed over, by the span that identifies the run. */
  readonly runs: Map<LiveSpan, EndedRun> = new Map()
  /** Agents that are laid out in a later turn, because their runs are large. */
  readonly large: Set<TreeNode> = new Set()
  isDone = false
  /** The open span around it for whose end it waits. */
  around: TreeNode | undefined
  /** Its neighbours in the order of open traces. Only `OpenTraces` writes them. */
  older: OpenTrace | undefined
  newer: OpenTrace | undefined
  /** The nodes of agents with final runs, and how many spans these have. */
  readonly #final: { readonly top: TreeNode; readonly size: number }[] = []
  #covered = 0

  constructor(traceId: string, isWanted: boolean, nowMs: number) {
    super(traceId)
    this.isWanted = isWanted
    this.activeMs = nowMs
  }

  /** Records that a span is in a final run: it belongs to no other one, and what begins below it is late. */
  cover(span: LiveSpan): void {
    span.isCovered = true
    span.node.isOver = true
    if (span.isWork && !span.isOpen && !span.node.isCut) this.work -= 1
    this.candidates.delete(span.node)
  }

  /** Records that the run of an agent is final. */
  addFinal(top: TreeNode, size: number): void {
    this.#final.push({ top, size })
    this.#covered += size
  }

  /** Drops the oldest final runs if there are many. Calls back for each of their spans. */
  forgetFinal(onForgotten: (span: LiveSpan) => void): void {
    while (this.#covered > MAX_COVERED) {
      const oldest = this.#final.shift()
      if (oldest === undefined) return
      this.#covered -= oldest.size
      if (oldest.top.span !== undefined && !oldest.top.isActive) this.#forget(oldest.top, oldest.top.span, onForgotten)
    }
  }

  #forget(top: TreeNode, agent: LiveSpan, onForgotten: (span: LiveSpan) => void): void {
    let { above } = top
    while (above !== undefined && above.span === undefined) above = above.above
    // A workflow with an agent below it is none.
    if (above?.span !== undefined) {
      const forgotten = { hasWork: false, hasAgents: false, ...above.span.forgottenBelow }
      addBelow(forgotten, agent, { hasWork: true, hasAgents: true })
      above.span.forgottenBelow = forgotten
    }
    this.remove(top, (node) => {
      const { span } = node
      if (span !== undefined) {
        this.runs.delete(span)
        onForgotten(span)
      }
      leave(node)
    })
  }

  /** Forgets all nodes. Those of the SDK's spans, which may be in a queue for long, refer to nothing from now on. */
  finish(): void {
    this.isDone = true
    for (const node of this.byId.values()) leave(node)
  }
}

function leave(node: TreeNode): void {
  if (node.span?.isOpen === true) {
    node.isOver = true
    node.isCut = true
  }
  node.span = undefined
  node.below = undefined
  node.isListed = false
  node.openBelow = 0
}

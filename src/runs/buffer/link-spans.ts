import type { RunPlan } from '../layout/run-layout.ts'
import { planTraces } from '../layout/plan-traces.ts'
import type { TraceSpan } from '../trace-span.ts'
import type { TreeNode, LiveSpan } from './tree-node.ts'
import { topOf } from './trace-tree.ts'

/** How to lay out runs. */
export interface LayoutOptions {
  /** Runs that were handed over before, among which other records of a run are searched. */
  readonly known?: readonly RunPlan[]
  /** Called with each run that another instrumentation recorded, too. */
  readonly onDuplicate?: (plan: RunPlan) => void
}

/** Lays out the runs of whole traces, or of parts of their trees: all that is in these nodes. */
export function layOut(roots: Iterable<TreeNode>, { known = [], onDuplicate }: LayoutOptions = {}): readonly RunPlan[] {
  const spans = linked(roots)
  const traceId = spans[0]?.span.traceId
  const isOneTrace = spans.every(({ span }) => span.traceId === traceId)
  const traces = isOneTrace ? [spans] : Map.groupBy(spans, ({ span }) => span.traceId).values()
  return planTraces(traces, known, onDuplicate)
}

interface Waiting {
  readonly node: TreeNode
  /** The nearest recognised span above it. */
  readonly parent: TraceSpan | undefined
  readonly topId: string
  readonly isOrphan: boolean
}

/** Links each recognised span to the nearest recognised one above it. */
function linked(roots: Iterable<TreeNode>): readonly LiveSpan[] {
  const spans: LiveSpan[] = []
  const waiting: Waiting[] = []
  for (const node of roots) {
    // The root of a part of a tree is outermost, whatever is above it.
    const topId = nearestAbove(node)?.spanId ?? topIdOf(node)
    waiting.push({ node, parent: undefined, topId, isOrphan: node.isLost })
  }
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    const { node, parent, topId, isOrphan } = item
    const { span, below } = node
    if (span !== undefined) {
      span.readLogs()
      if (span.isOpen) span.lookAgain()
      span.link(parent, topId, isOrphan)
      spans.push(span)
    }
    if (below === undefined) continue
    const next =
      span === undefined
        ? { parent, topId: topId === '' ? node.spanId : topId, isOrphan }
        : { parent: span, topId: node.spanId, isOrphan: false }
    for (const child of below) waiting.push({ node: child, ...next })
  }
  for (const { role, parent, dialect } of spans) {
    if (role === 'entry' && parent?.role === 'model' && dialect.quirks?.modelsEncloseLoops === true)
      parent.role = 'entry'
  }
  return spans
}

function nearestAbove({ above }: TreeNode): TreeNode | undefined {
  while (above !== undefined && above.span === undefined) above = above.above
  return above
}

/** The id of the topmost known or named ancestor; empty if there is none. */
function topIdOf(node: TreeNode): string {
  const top = topOf(node)
  return top.parentId !== '' ? top.parentId : top === node ? '' : top.spanId
}

import type { SourceLog } from '../spans/source-span.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { buildRuns } from './build-runs.ts'
import { nearestNode } from './live/local-span.ts'
import type { SpanNode } from './live/span-node.ts'

/** What the runs of some spans of this process are put together from. */
export interface Assembly {
  readonly nodes: readonly SpanNode[]
  readonly logs: readonly SourceLog[]
  readonly revision: 1 | 2
  /** True where spans were left out over a limit. */
  readonly lacksSpans: boolean
}

/** Puts runs together from spans of this process, some of which may be open. */
export function assembleRuns({ nodes, logs, revision, lacksSpans }: Assembly): AgentRun[] {
  let open: Set<string> | undefined
  let parents: Map<string, string | undefined> | undefined
  for (const node of nodes) {
    if (node.open) (open ??= new Set()).add(node.source.spanId)
    // Spans in between that no dialect recognises are not kept: the way up leads past them.
    const { parentSpanId } = node.source
    if (parentSpanId === undefined || node.local.above === undefined) continue
    const parent = nearestNode(node.local.above)?.source.spanId
    if (parent !== parentSpanId) (parents ??= new Map()).set(parentSpanId, parent)
  }
  return buildRuns(
    nodes.map((node) => node.source),
    {
      logs,
      revision,
      lacksSpans,
      ...(parents !== undefined && { parents }),
      ...(open !== undefined && { isOpen: (spanId: string) => open.has(spanId) }),
    },
  )
}

/** The run of an agent's span, wherever it stands among these; `undefined` where the span is no run of its own. */
export function findRun(runs: readonly AgentRun[], spanId: string): AgentRun | undefined {
  for (const run of runs) {
    const found = run.spanId === spanId ? run : findRun(run.children, spanId)
    if (found) return found
  }
  return undefined
}

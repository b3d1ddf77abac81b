import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { RunPlan } from './layout/run-layout.ts'
import { nestBareRuns } from './layout/nest-agentless-runs.ts'
import { planRuns } from './layout/assign-spans.ts'
import { ReconstructedRun } from './view/run.ts'
import { joinSpread } from './layout/merge-split-traces.ts'
import { buildTree, compareSpans, type TreeSpan } from './layout/tree.ts'
import { dropTwins } from './layout/duplicate-runs.ts'

/** What is known beside the ended spans. */
export interface BuildRunsOptions {
  /** Log records of the same traces, for dialects that write content there. */
  readonly logs?: readonly SourceLog[]
  /**
   * Says of a span in the list that it has not ended. It gives the tree its shape and makes its run incomplete; of models
   * and tools no facts are read then.
   *
   * @default none is open
   */
  readonly isOpen?: (spanId: string) => boolean
  /** True where spans of these traces were left out, for limits: no run is complete then. */
  readonly lacksSpans?: boolean
  /**
   * Parents of spans that are in not in the list because no dialect recognises them: span id to parent span id (`undefined`
   * for a root). Keeps the way up from a tool through the application's own spans to the agent.
   */
  readonly parents?: ReadonlyMap<string, string | undefined>
  /** @default 1 */
  readonly revision?: number
}

/**
 * The runs in a set of spans: the one truth of what a run is, for spans that end in a process and for files. The same
 * spans in any order, with duplicates, and with other traces between them give the same runs. Top-level runs by start;
 * nested ones are their `children`. Nothing is parsed until a run is asked; nothing throws.
 */
export function buildRuns(spans: readonly SourceSpan[], options: BuildRunsOptions = {}): AgentRun[] {
  const { logs = [], isOpen = () => false, parents = NO_PARENTS, revision = 1 } = options
  const logsBySpan = groupLogs(logs)
  const plans: RunPlan[] = []
  const loose: TreeSpan[] = []
  for (const [traceId, ofTrace] of groupByTrace(spans)) {
    const context = { logs: logsBySpan?.get(traceId) ?? NO_LOGS, isOpen, parents }
    const planned = planRuns(buildTree(ofTrace, context))
    plans.push(...planned.plans)
    loose.push(...planned.loose)
  }
  const runs = nestBareRuns(joinSpread(dropTwins(plans), loose)).toSorted((left, right) =>
    compareSpans(left.root.span, right.root.span),
  )
  if (options.lacksSpans === true) for (const plan of runs) markIncomplete(plan)
  return runs.map((plan) => new ReconstructedRun(plan, revision))
}

function markIncomplete(top: RunPlan): void {
  const waiting = [top]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    plan.isComplete = false
    waiting.push(...plan.children)
  }
}

const NO_PARENTS: ReadonlyMap<string, string | undefined> = new Map()
const NO_LOGS: ReadonlyMap<string, readonly SourceLog[]> = new Map()

/** Where a run ends in a process, all of its spans are of one trace: nothing is to be grouped. */
function groupByTrace(spans: readonly SourceSpan[]): Iterable<readonly [string, readonly SourceSpan[]]> {
  const traceId = spans[0]?.traceId
  if (traceId !== undefined && spans.every((span) => span.traceId === traceId)) return [[traceId, spans]]
  return Map.groupBy(spans, (span) => span.traceId)
}

/** By trace and span, in order of time, stable. */
function groupLogs(
  logs: readonly SourceLog[],
): ReadonlyMap<string, ReadonlyMap<string, readonly SourceLog[]>> | undefined {
  if (logs.length === 0) return undefined
  const groups = new Map<string, Map<string, readonly SourceLog[]>>()
  for (const [traceId, ofTrace] of Map.groupBy(logs, (log) => log.traceId)) {
    const sorted = ofTrace.toSorted((left, right) => left.timeMs - right.timeMs)
    groups.set(
      traceId,
      Map.groupBy(sorted, (log) => log.spanId),
    )
  }
  return groups
}

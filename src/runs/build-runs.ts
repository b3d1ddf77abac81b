import type { AgentRun } from '../model/agent-run.ts'
import { toSourceSpan } from '../spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../spans/from-sdk-span.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { withoutLogCopies } from './layout/log-copies.ts'
import { layOut } from './buffer/link-spans.ts'
import { placeSpans, recordedTree } from './buffer/recorded-tree.ts'
import type { RecordedSpan } from './buffer/recorded-tree.ts'
import type { TreeNode } from './buffer/tree-node.ts'
import type { RunPlan } from './layout/run-layout.ts'
import { markIncomplete } from './layout/run-layout.ts'
import { ReconstructedRun } from './view/run.ts'
import { withOwnFacts } from './view/with-own-facts.ts'

/** What is known besides the ended spans. */
export interface BuildRunsOptions {
  /** Log records of the same traces, for dialects that write content in them. */
  readonly logs?: readonly SourceLog[]
  /** Whether spans of these traces were dropped at a limit; then no run is complete. */
  readonly lacksSpans?: boolean
}

/**
 * Returns the runs in a set of recorded spans. The order of the spans, duplicates, and spans of other traces do not affect the result.
 * Top-level runs are ordered by start; nested ones are their `children`. Parsing is lazy, and nothing throws.
 */
export function buildRuns(spans: readonly SourceSpan[], options: BuildRunsOptions = {}): AgentRun[] {
  const logs = groupLogs(options.logs ?? [])
  const traces = [...Map.groupBy(spans, (span) => span.traceId)]
  const trees = traces.map(([traceId, ofTrace]) => recordedTree(traceId, ofTrace, logs.get(traceId) ?? NO_LOGS))
  return runsOf(layOut(trees.flatMap(({ roots }) => [...roots])), options)
}

/**
 * The runs in some nodes of a trace's tree, in a few steps.
 *
 * @param nodes all that are laid out together
 * @param recorded the spans of those that may be recognised, with their log records in any order
 */
export function* buildRunsOfNodes(
  nodes: Iterable<TreeNode>,
  recorded: readonly RecordedSpan[],
  options: Pick<BuildRunsOptions, 'lacksSpans'>,
): Generator<undefined, AgentRun[]> {
  placeSpans(recorded.map(({ logs, ...each }) => ({ ...each, logs: logs.length < 2 ? logs : inOrder(logs) })))
  yield
  const plans = layOut(outermost(new Set(nodes)))
  // The plans refer to the spans. Nodes outlive a layout; the next layout gives them new spans.
  for (const { node } of recorded) node.span = undefined
  yield
  return runsOf(plans, options)
}

function runsOf(plans: readonly RunPlan[], { lacksSpans }: Pick<BuildRunsOptions, 'lacksSpans'>): AgentRun[] {
  if (lacksSpans === true) for (const plan of plans) markIncomplete(plan)
  return plans.map((plan) => new ReconstructedRun(plan, 1))
}

/** The nodes that are below no other one. What is between two of them may have come since they were chosen. */
function* outermost(nodes: ReadonlySet<TreeNode>): Iterable<TreeNode> {
  for (const node of nodes) {
    let { above } = node
    while (above !== undefined && !nodes.has(above)) above = above.above
    if (above === undefined) yield node
  }
}

/**
 * Reconstructs the agent runs in these spans: spans of an OpenTelemetry JS SDK (1.30, 2.x, 3.x) or `SourceSpan`s, in any order, of any
 * number of traces. `logs` are the log records in which some instrumentations write messages.
 *
 * Top-level runs are ordered by start time, each with its children. Content is parsed when it is first read.
 *
 * @example
 * const exporter = new InMemorySpanExporter()
 * const [run] = reconstructRuns(exporter.getFinishedSpans())
 * console.log(run?.toolCalls)
 */
export function reconstructRuns(
  spans: readonly (SdkSpanLike | SourceSpan)[],
  logs: readonly SourceLog[] = [],
): AgentRun[] {
  return buildRuns(
    spans.map((span) => ('spanContext' in span ? toSourceSpan(span) : span)),
    { logs },
  ).map((run) => withOwnFacts(run))
}

const NO_LOGS: ReadonlyMap<string, readonly SourceLog[]> = new Map()

/** Groups logs by trace and span, ordered by time (stable), each record once. */
function groupLogs(logs: readonly SourceLog[]): ReadonlyMap<string, ReadonlyMap<string, readonly SourceLog[]>> {
  const groups = new Map<string, Map<string, readonly SourceLog[]>>()
  for (const [traceId, ofTrace] of Map.groupBy(logs, (log) => log.traceId)) {
    groups.set(
      traceId,
      new Map([...Map.groupBy(ofTrace, (log) => log.spanId)].map(([spanId, ofSpan]) => [spanId, inOrder(ofSpan)])),
    )
  }
  return groups
}

/** The log records of one span, each once. */
function inOrder(logs: readonly SourceLog[]): readonly SourceLog[] {
  return withoutLogCopies(logs.toSorted((left, right) => left.timeMs - right.timeMs))
}

import type { AgentRun } from '../model/agent-run.ts'
import { toSourceSpan } from '../spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../spans/from-sdk-span.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { withoutLogCopies } from './layout/log-copies.ts'
import { layOut } from './buffer/lay-out.ts'
import { recordedTree } from './buffer/recorded-tree.ts'
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
  const steps = buildRunsInSteps(spans, options)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Like `buildRuns`, in a few steps, so that a trace of thousands of spans can be reconstructed in several turns of the event loop. */
export function* buildRunsInSteps(
  spans: readonly SourceSpan[],
  options: BuildRunsOptions = {},
): Generator<undefined, AgentRun[]> {
  const logs = groupLogs(options.logs ?? [])
  const traces = [...Map.groupBy(spans, (span) => span.traceId)]
  const trees = traces.map(([traceId, ofTrace]) => recordedTree(traceId, ofTrace, logs.get(traceId) ?? NO_LOGS))
  yield
  const plans = layOut(trees.flatMap(({ roots }) => [...roots]))
  if (options.lacksSpans === true) for (const plan of plans) markIncomplete(plan)
  yield
  return plans.map((plan) => new ReconstructedRun(plan, 1))
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
    const sorted = ofTrace.toSorted((left, right) => left.timeMs - right.timeMs)
    groups.set(
      traceId,
      new Map(
        [...Map.groupBy(sorted, (log) => log.spanId)].map(([spanId, ofSpan]) => [spanId, withoutLogCopies(ofSpan)]),
      ),
    )
  }
  return groups
}

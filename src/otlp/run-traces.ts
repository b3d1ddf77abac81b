import type { AgentRun } from '../model/agent-run.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'

/** What files hold of one trace. */
export interface TraceContent {
  /** The spans of the trace. */
  readonly spans: readonly SourceSpan[]
  /** The log records of the trace. */
  readonly logs: readonly SourceLog[]
}

/** Finds the traces of runs: a run may be split over several. */
export class RunTraces {
  readonly #byTraceId: ReadonlyMap<string, TraceContent>
  readonly #traceIds: ReadonlyMap<string, string>

  constructor(spans: readonly SourceSpan[], logs: readonly SourceLog[]) {
    const logsOf = Map.groupBy(logs, ({ traceId }) => traceId)
    const spansOf = Map.groupBy(spans, ({ traceId }) => traceId)
    this.#byTraceId = new Map(
      Array.from(spansOf, ([traceId, ofTrace]) => [traceId, { spans: ofTrace, logs: logsOf.get(traceId) ?? [] }]),
    )
    this.#traceIds = new Map(spans.map(({ spanId, traceId }) => [spanId, traceId]))
  }

  /** The traces with spans of a run and of its nested runs. */
  of(run: AgentRun): readonly TraceContent[] {
    const traceIds = spanIdsOf(run).flatMap((spanId) => this.#traceIds.get(spanId) ?? [])
    return [...new Set([run.traceId, ...traceIds])].flatMap((traceId) => this.#byTraceId.get(traceId) ?? [])
  }
}

function spanIdsOf(run: AgentRun): readonly string[] {
  const calls = [...run.steps, ...run.sideCalls, ...run.toolCalls].flatMap(({ spanId }) => spanId ?? [])
  return [...calls, ...run.children.flatMap(spanIdsOf)]
}

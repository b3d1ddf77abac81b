import { toSourceSpan } from '../spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../spans/from-sdk-span.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { buildRuns } from './build-runs.ts'

/**
 * Puts the agent runs together that these spans hold: spans of an OpenTelemetry JS SDK (1.30, 2.x, 3.x), or `SourceSpan`s,
 * in any order, of any number of traces; `logs` are the log records in which some instrumentations write messages.
 *
 * Top-level runs come by start time, each with its children. Nothing is parsed before it is asked for.
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
  )
}

import type { AgentRun } from '../model/agent-run.ts'
import { buildRuns } from '../runs/build-runs.ts'
import type { BuildRunsOptions } from '../runs/build-runs.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { RunSpanIds } from './run-span-ids.ts'
import type { IdsOfSpans } from './run-span-ids.ts'
import { RunTraces } from './run-traces.ts'
import type { TraceContent } from './run-traces.ts'
import type { ArchivedTrace, SpanArchive } from './span-archive.ts'
import { StoredScores } from './stored-scores.ts'
import type { StoredScore, ToolScore } from './stored-score.ts'

/** A run, and the scores that its traces already have. */
export interface StoredRun {
  /** The run, with its nested runs. */
  readonly run: AgentRun
  /** The scores of the run or of a nested run, from its span, late spans and events: ours, then what users and other tools say (`isForeign`). */
  readonly scoresOf: (run: AgentRun) => readonly StoredScore[]
  /** The stored scores of the conversation of which the run was the last one when they were written. */
  readonly conversationScoresOf: (run: AgentRun) => readonly StoredScore[]
  /** What users and other tools say of the tool calls of the run or of a nested run. */
  readonly toolScoresOf: (run: AgentRun) => readonly ToolScore[]
  /** The recognised spans of the run or of a nested run. */
  readonly spansOf: (run: AgentRun) => IdsOfSpans
  /** The traces with spans of the run and of its nested runs. */
  readonly traces: () => readonly TraceContent[]
}

/**
 * Returns the runs of an archive ordered by start time. A run may be split over several traces or recorded in two, so traces are read
 * together: all of them if they are in memory, or else some thousand spans at a time. A run that starts after the first trace of the next
 * batch waits for that batch.
 */
export function* runsByStart(archive: SpanArchive): Generator<StoredRun> {
  let waiting: readonly StoredRun[] = []
  for (const traces of inBatches(archive.traces(), archive.isSpilled ? BATCH_SPANS : Number.POSITIVE_INFINITY)) {
    const startTimeMs = traces[0]?.startTimeMs ?? 0
    const due = waiting.filter(({ run }) => run.startTimeMs <= startTimeMs)
    yield* due
    const later = [...waiting.slice(due.length), ...storedRuns(traces)]
    waiting = later.toSorted((left, right) => left.run.startTimeMs - right.run.startTimeMs)
  }
  yield* waiting
}

function storedRuns(traces: readonly ArchivedTrace[]): StoredRun[] {
  return toStoredRuns(
    traces.flatMap((trace) => trace.spans),
    traces.flatMap((trace) => trace.logs),
  )
}

/** The runs in these spans, with the scores that they have already. */
export function toStoredRuns(
  spans: readonly SourceSpan[],
  logs: readonly SourceLog[],
  options: Pick<BuildRunsOptions, 'lacksSpans'> = {},
): StoredRun[] {
  // The indexes are built at first use.
  let scores: StoredScores | undefined
  let ids: RunSpanIds | undefined
  let traces: RunTraces | undefined
  const roots = buildRuns(spans, { ...options, logs })
  const stored = (): StoredScores => (scores ??= new StoredScores(spans, logs, roots))
  const spansOf = (run: AgentRun): IdsOfSpans => (ids ??= new RunSpanIds(spans, logs)).of(run)
  const tracesOf = (run: AgentRun): readonly TraceContent[] => (traces ??= new RunTraces(spans, logs)).of(run)
  return roots.map((run) => ({
    run,
    scoresOf: (one) => stored().of(one),
    conversationScoresOf: (one) => stored().ofConversation(one),
    toolScoresOf: (one) => stored().ofTools(one),
    spansOf,
    traces: () => tracesOf(run),
  }))
}

/** Spans per batch if not all fit into memory. */
const BATCH_SPANS = 5000

/** Splits traces into batches of about `maxSpans` spans, at the longest pause between two starts in the second half. */
function* inBatches(traces: Iterable<ArchivedTrace>, maxSpans: number): Generator<readonly ArchivedTrace[]> {
  let batch: ArchivedTrace[] = []
  let count = 0
  for (const trace of traces) {
    batch.push(trace)
    count += trace.spans.length
    if (count < maxSpans || batch.length < 2) continue
    const cut = longestPause(batch)
    yield batch.slice(0, cut)
    batch = batch.slice(cut)
    count = batch.reduce((sum, item) => sum + item.spans.length, 0)
  }
  if (batch.length > 0) yield batch
}

function longestPause(batch: readonly ArchivedTrace[]): number {
  let longest = -1
  let cut = batch.length - 1
  for (let index = Math.ceil(batch.length / 2); index < batch.length; index++) {
    const pause = (batch[index]?.startTimeMs ?? 0) - (batch[index - 1]?.startTimeMs ?? 0)
    if (pause <= longest) continue
    longest = pause
    cut = index
  }
  return cut
}

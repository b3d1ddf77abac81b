import type { SourceSpan } from '../../../src/spans/source-span.ts'
import { UsageError } from '../usage-error.ts'
import { MAX_TRACES } from './trace-backend.ts'
import type { TraceBackend } from './trace-backend.ts'

/** A range of time, in milliseconds since the epoch. */
export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

/** The traces of a part of the range that were in no part before it. */
export interface TimeSlice {
  /** The end of the part. */
  readonly toMs: number
  readonly spans: readonly SourceSpan[]
}

const FIRST_MS = 60_000

/** How many trace ids are remembered, so that a trace that reaches over several slices is read once. */
const MAX_SEEN = 100_000

/** Reads a range in slices of time, each short enough for the backend to return all of its traces. */
export async function* timeSlices(backend: TraceBackend, range: TimeRange): AsyncGenerator<TimeSlice> {
  const { shortestMs } = backend
  const seen = new Set<string>()
  let fromMs = range.fromMs
  let lengthMs = FIRST_MS
  while (fromMs < range.toMs) {
    const toMs = Math.min(range.toMs, fromMs + lengthMs)
    const spans = await backend.read(fromMs, toMs)
    if (spans === undefined) {
      if (lengthMs <= shortestMs) {
        throw new UsageError(
          `--from: more traces at ${new Date(fromMs).toISOString()} than can be read at once; choose some of them with --query`,
        )
      }
      lengthMs = atLeast((toMs - fromMs) / 2, shortestMs)
      continue
    }
    const ids = new Set(spans.map(({ traceId }) => traceId))
    yield { toMs, spans: spans.filter(({ traceId }) => !seen.has(traceId)) }
    for (const id of ids) remember(seen, id)
    fromMs = toMs
    // Somewhat fewer than the limit are expected in the next slice.
    lengthMs = atLeast(lengthMs * Math.min(2, (0.7 * MAX_TRACES) / ids.size), shortestMs)
  }
}

/** A whole multiple of the shortest length. */
function atLeast(lengthMs: number, shortestMs: number): number {
  return Math.max(1, Math.floor(lengthMs / shortestMs)) * shortestMs
}

function remember(seen: Set<string>, id: string): void {
  seen.delete(id)
  seen.add(id)
  if (seen.size <= MAX_SEEN) return
  const [oldest] = seen
  if (oldest !== undefined) seen.delete(oldest)
}

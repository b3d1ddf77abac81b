import { isDeepStrictEqual } from 'node:util'

import { buildRuns, readOtlpJson } from 'spanscore/engine'
import type { AgentRun, SourceLog, SourceSpan } from 'spanscore/engine'

import { expectedScores, readEvent, readLateSpan, scorerOf } from './expected-scores.ts'
import type { WrittenScore } from './expected-scores.ts'

/** A run that was sent, and everything that was sent of it. */
interface TrueRun {
  readonly run: AgentRun
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
}

/** What was delivered for a run: late spans and events. */
export interface DeliveredScores {
  readonly spans: readonly SourceSpan[]
  readonly events: readonly SourceLog[]
}

/** The runs that were sent, built by `buildRuns` from all of their spans and log records. */
export class Truth {
  readonly #runs = new Map<string, TrueRun>()

  get size(): number {
    return this.#runs.size
  }

  /** @returns The keys of the runs in these requests */
  note(traces: unknown, logRequest?: unknown): readonly string[] {
    const spans = readOtlpJson(traces)?.spans ?? []
    const logs = logRequest === undefined ? [] : (readOtlpJson(logRequest)?.logs ?? [])
    const runs = buildRuns(spans, { logs })
    for (const run of runs) this.#runs.set(keyOf(run), { run, spans, logs })
    return runs.map(keyOf)
  }

  has(key: string): boolean {
    return this.#runs.has(key)
  }

  keys(): Iterable<string> {
    return this.#runs.keys()
  }

  /**
   * How the delivered scores of a run differ from those of everything that was sent. Scores may arrive several times, and a run that
   * was scored before its last spans arrived has earlier revisions. The last revision of every scorer must be equal each time.
   */
  async differences(key: string, { spans, events }: DeliveredScores): Promise<readonly string[]> {
    const known = this.#runs.get(key)
    const expected = known && (await expectedScores(known.spans, known.logs)).get(key)
    if (expected === undefined) return [`${key}: was not sent`]
    const names = new Set([...Object.keys(expected), ...spans.map(scorerOf), ...events.map(scorerOf)])
    return [...names].flatMap((name) => {
      const score = expected[name]
      if (score === undefined) return [`${key} ${name}: was not configured`]
      const lateSpans = lastOf(spans.filter((span) => scorerOf(span) === name)).map(readLateSpan)
      const written = lastOf(events.filter((event) => scorerOf(event) === name)).map(readEvent)
      const { status, explanation } = score
      // A skipped score has no event, and the event of a failed one no message.
      const event = { ...score, explanation: status === 'scored' ? explanation : undefined }
      return [
        ...unequal(`${key} ${name}, late span`, lateSpans, score),
        ...unequal(`${key} ${name}, event`, written, status === 'skipped' ? undefined : event),
      ]
    })
  }

  /** The share of a service's runs with tool calls in which none failed. */
  passedOf(service: string): number {
    const runs = [...this.#runs.values()].filter(
      ({ run }) => run.resource['service.name'] === service && run.toolCalls.length > 0,
    )
    return runs.filter(({ run }) => !hasFailed(run)).length / runs.length
  }
}

export function keyOf({ traceId, spanId }: Pick<SourceLog, 'traceId' | 'spanId'>): string {
  return `${traceId}:${spanId}`
}

/** The number of spans from which a score was computed. */
export function revisionOf({ attributes }: Pick<SourceLog, 'attributes'>): number {
  return Number(attributes['spanscore.revision'])
}

/** The records of the last revision. */
function lastOf<Written extends Pick<SourceLog, 'attributes'>>(records: readonly Written[]): readonly Written[] {
  const last = Math.max(...records.map(revisionOf))
  return records.filter((record) => revisionOf(record) === last)
}

/** @param expected Undefined if nothing must be written */
function unequal(
  what: string,
  written: readonly WrittenScore[],
  expected: WrittenScore | undefined,
): readonly string[] {
  if (expected !== undefined && written.length === 0) return [`${what}: is missing`]
  return written
    .filter((each) => !isDeepStrictEqual(each, expected))
    .map((each) => `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(each)}`)
}

function hasFailed({ toolCalls }: AgentRun): boolean {
  return toolCalls.some((call) => call.error !== undefined)
}

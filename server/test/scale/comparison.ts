import type { SourceSpan } from 'spanscore/engine'

import type { Deliveries } from './deliveries.ts'
import { scorerOf } from './expected-scores.ts'
import { keyOf, revisionOf } from './truth.ts'
import type { Truth } from './truth.ts'

/** Errors that must never happen to a run. */
export interface Faults {
  /** Runs that were sent but have no score. */
  readonly lost: readonly string[]
  /** Runs that were scored but never sent. */
  readonly falseRuns: readonly string[]
  /** How the scores of runs differ from those of all of their spans and log records. */
  readonly wrong: readonly string[]
  /** Revisions whose scores have several ids. */
  readonly differing: readonly string[]
}

export const NO_FAULTS: Faults = { lost: [], falseRuns: [], wrong: [], differing: [] }

/** The result of comparing the delivered scores with the runs that were sent. */
export interface Comparison {
  readonly faults: Faults
  /** Runs with several revisions. A span that cannot be written for longer than workers wait causes another revision. */
  readonly revised: readonly string[]
  /** Scores of a revision beyond its first. */
  readonly duplicates: number
  /** A summary in one line. */
  readonly text: string
}

export async function compare(truth: Truth, deliveries: Deliveries): Promise<Comparison> {
  const byRun = Map.groupBy(
    deliveries.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'tool_errors'),
    keyOf,
  )
  const lateSpans = Map.groupBy(deliveries.spans, runOf)
  const events = Map.groupBy(deliveries.logs, keyOf)
  const wrong: string[] = []
  for (const key of new Set([...lateSpans.keys(), ...events.keys()])) {
    if (!truth.has(key)) continue
    const delivered = { spans: lateSpans.get(key) ?? [], events: events.get(key) ?? [] }
    wrong.push(...(await truth.differences(key, delivered)))
  }
  const revisions = [...byRun].flatMap(([key, ofRun]) =>
    [...Map.groupBy(ofRun, revisionOf).values()].map((scores) => ({ key, scores })),
  )
  const faults = {
    lost: [...truth.keys()].filter((key) => !deliveries.has(key)),
    falseRuns: [...new Set([...lateSpans.keys(), ...deliveries.runs])].filter((key) => !truth.has(key)),
    wrong,
    differing: [...Map.groupBy(deliveries.spans, (span) => `${runOf(span)} ${scorerOf(span)} ${revisionOf(span)}`)]
      .filter(([, scores]) => new Set(scores.map(({ attributes }) => attributes['spanscore.score.id'])).size > 1)
      .map(([revision]) => revision),
  }
  const revised = [...byRun].filter(([, ofRun]) => new Set(ofRun.map(revisionOf)).size > 1).map(([key]) => key)
  const duplicates = revisions.reduce((sum, { scores }) => sum + scores.length - 1, 0)
  const { lost, falseRuns, differing } = faults
  const text =
    `lost ${lost.length}, false ${falseRuns.length}, wrong ${wrong.length}, revised ${revised.length}, ` +
    `duplicates ${duplicates}, of these with other ids ${differing.length}`
  return { faults, revised, duplicates, text }
}

/** The key of the run that a late span belongs to. */
export function runOf({ traceId, parentSpanId = '' }: SourceSpan): string {
  return keyOf({ traceId, spanId: parentSpanId })
}

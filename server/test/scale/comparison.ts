import type { Deliveries } from './deliveries.ts'
import { keyOf, revisionOf } from './truth.ts'
import type { Truth } from './truth.ts'

/** What may never happen to a run. */
export interface Faults {
  /** Runs that were sent and have no score. */
  readonly lost: readonly string[]
  /** Runs that were scored and never sent. */
  readonly falseRuns: readonly string[]
  /** Runs whose latest score is not that of all of their spans. */
  readonly wrong: readonly string[]
  /** Revisions whose scores have several ids. */
  readonly differing: readonly string[]
}

export const NO_FAULTS: Faults = { lost: [], falseRuns: [], wrong: [], differing: [] }

/** What was delivered, compared with what was sent. */
export interface Comparison {
  readonly faults: Faults
  /** Runs with more than one revision: a span that could not be written for longer than workers wait makes another one. */
  readonly revised: readonly string[]
  /** Scores of a revision beyond its first. */
  readonly duplicates: number
  /** All of it, in a line. */
  readonly text: string
}

export function compare(truth: Truth, deliveries: Deliveries): Comparison {
  const byRun = Map.groupBy(
    deliveries.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'tool_errors'),
    keyOf,
  )
  const revisions = [...byRun].flatMap(([key, ofRun]) =>
    [...Map.groupBy(ofRun, revisionOf).values()].map((scores) => ({ key, scores })),
  )
  const faults = {
    lost: [...truth.keys()].filter((key) => !deliveries.has(key)),
    falseRuns: [...deliveries.runs].filter((key) => !truth.has(key)),
    wrong: [...byRun].filter(([, ofRun]) => !truth.isRight(ofRun)).map(([key]) => key),
    differing: revisions
      .filter(({ scores }) => new Set(scores.map(({ attributes }) => attributes['spanscore.score.id'])).size > 1)
      .map(({ key }) => key),
  }
  const revised = [...byRun].filter(([, ofRun]) => new Set(ofRun.map(revisionOf)).size > 1).map(([key]) => key)
  const duplicates = revisions.reduce((sum, { scores }) => sum + scores.length - 1, 0)
  const { lost, falseRuns, wrong, differing } = faults
  const text =
    `lost ${lost.length}, false ${falseRuns.length}, wrong ${wrong.length}, revised ${revised.length}, ` +
    `duplicates ${duplicates}, of these with other ids ${differing.length}`
  return { faults, revised, duplicates, text }
}

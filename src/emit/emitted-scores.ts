import type { CallScore, Evaluation } from '../model/score.ts'
import { positionInRange } from './position-in-range.ts'

/** A score with an event and a late span of its own: that of a run, or of one of its calls. */
export interface EmittedScore {
  /** Of a call: without what the score of the run shows, so that nobody counts the judge's tokens for each call. */
  readonly evaluation: Evaluation
  /** Absent if the score is the run's. */
  readonly call: CallScore | undefined
}

/** How many calls of a run get an event and a late span from one scorer. The others count in metrics and on the agent's span. */
const MAX_EMITTED_CALLS = 64

/**
 * The scores of an evaluation that are written one by one. A scorer of calls that could not be asked about them has one, which is the run's.
 * Calls that it skipped have none; if there are too many, those with the lowest scores are written.
 */
export function emittedScores(evaluation: Evaluation): readonly EmittedScore[] {
  const { calls, judge, ...ofRun } = evaluation
  if (calls === undefined) return [{ evaluation, call: undefined }]
  const all = calls.filter(({ score }) => score.status !== 'skipped')
  const placeOf = ({ score }: CallScore): number =>
    score.status === 'scored' ? positionInRange(evaluation, score.value) : 2
  const written =
    all.length <= MAX_EMITTED_CALLS
      ? all
      : all.toSorted((left, right) => placeOf(left) - placeOf(right)).slice(0, MAX_EMITTED_CALLS)
  return written.map((call) => ({
    evaluation: {
      ...ofRun,
      score: call.score,
      ...(judge !== undefined && { judge: { model: judge.model, calls: judge.calls, usage: {} } }),
    },
    call,
  }))
}

/** Where the score of a call is written: at its own span, or at the agent's if it has none. */
export function placeOfCall(
  run: { readonly traceId: string; readonly spanId: string },
  call: CallScore | undefined,
): { readonly traceId: string; readonly spanId: string } {
  if (call?.spanId === undefined) return run
  return { traceId: call.traceId ?? run.traceId, spanId: call.spanId }
}

import type { Evaluation } from '../api.ts'
import { VerdictMark } from './score-mark.tsx'

interface CallScoresProps {
  readonly evaluations: readonly Evaluation[]
  readonly level: 'tool-call' | 'retrieval'
  /** The index of the call in the run. */
  readonly index: number
}

/** What scorers of calls say of one call, at the call. A call that they skipped has nothing to show. */
export function CallScores({ evaluations, level, index }: CallScoresProps) {
  const shown = evaluations.flatMap(({ scorer, calls = [] }) =>
    scorer.level === level
      ? calls.flatMap((call) =>
          call.index === index && call.score.status !== 'skipped' ? [{ scorer, score: call.score }] : [],
        )
      : [],
  )
  if (shown.length === 0) return null
  return (
    <ul class="call-scores" aria-label="Scores of this call">
      {shown.map(({ scorer, score }) => {
        const why = score.status === 'scored' ? score.explanation : score.message
        return (
          <li key={scorer.id}>
            <VerdictMark scorer={scorer} score={score} /> {scorer.id}
            {why !== undefined && <span class="muted text"> {why}</span>}
          </li>
        )
      })}
    </ul>
  )
}

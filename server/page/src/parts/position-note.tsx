import { useService } from '../service.ts'
import { isLowerBetter, unitsOfScorer, versionsOf } from './scorer-choice.tsx'

interface PositionNoteProps {
  readonly scorer: string
  /** Whether scores by every version of the scorer count. */
  readonly allVersions: boolean
}

/** What the numbers of the scores' means and intervals are. */
export function PositionNote({ scorer, allVersions }: PositionNoteProps) {
  const { overview } = useService()
  const units = unitsOfScorer(overview, scorer)
  const many = units === 'conversations' ? units : 'runs'
  return (
    <p class="muted">
      Each score counts as its position in the scorer's range, from 0, the worst, to 1, the best.
      {units === 'calls' && ' A run counts once, with the mean of its calls.'}
      {isLowerBetter(overview, scorer) && ` Lower values of ${scorer} are better (↓), so its lowest value counts as 1.`}
      {allVersions &&
        versionsOf(overview, scorer).length > 1 &&
        ` Scores by all versions of ${scorer} count, and versions may measure differently.`}{' '}
      If {many} were sampled, each scored {many.slice(0, -1)} is weighted with the number of {many} that it stands for,
      in means and shares alike. The 95 % interval is for the mean of many more {many} of the same kind. It takes {many}{' '}
      as independent: it is too narrow if they share a cause, such as{' '}
      {units === 'conversations' ? 'the same user' : 'the turns of one conversation'}.
    </p>
  )
}

import { useService } from '../service.ts'
import { isLowerBetter, versionsOf } from './scorer-choice.tsx'

interface PositionNoteProps {
  readonly scorer: string
  /** Whether scores by every version of the scorer count. */
  readonly allVersions: boolean
}

/** What the numbers of the scores' means and intervals are. */
export function PositionNote({ scorer, allVersions }: PositionNoteProps) {
  const { overview } = useService()
  return (
    <p class="muted">
      Each score counts as its position in the scorer's range, from 0, the worst, to 1, the best.
      {isLowerBetter(overview, scorer) && ` Lower values of ${scorer} are better (↓), so its lowest value counts as 1.`}
      {allVersions &&
        versionsOf(overview, scorer).length > 1 &&
        ` Scores by all versions of ${scorer} count, and versions may measure differently.`}{' '}
      If runs were sampled, each scored run is weighted with the number of runs that it stands for, in means and shares
      alike. The 95 % interval is for the mean of many more runs of the same kind. It takes runs as independent: it is
      too narrow if they share a cause, such as the turns of one conversation.
    </p>
  )
}

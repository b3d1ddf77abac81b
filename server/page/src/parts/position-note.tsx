import { useService } from '../service.ts'
import { isLowerBetter } from './scorer-choice.tsx'

/** What the numbers of the scores' means and intervals are. */
export function PositionNote({ scorer }: { readonly scorer: string }) {
  const { overview } = useService()
  return (
    <p class="muted">
      Each score counts as its position in the scorer's range, from 0, the worst, to 1, the best.
      {isLowerBetter(overview, scorer) &&
        ` Lower values of ${scorer} are better (↓), so its lowest value counts as 1.`}{' '}
      If a part of the runs was sampled, each scored run is weighted with the number of runs that it stands for, as in
      the alerts. Of 100 intervals that are computed in this way, about 95 contain the mean that many more runs of the
      same kind would have.
    </p>
  )
}

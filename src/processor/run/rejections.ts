import { contentFree, explain } from '../../model/explanation.ts'
import type { Skipped } from '../../model/score.ts'
import { skipped } from '../../scoring/unscored.ts'

/** The run holds too much content to be read. */
export const TOO_LARGE: Skipped = skipped(
  'no-content',
  contentFree('The run holds more than 16 MiB of content, which is not read: that would block the application.'),
)

/** The spans that were kept make no run. */
export const NO_RUN: Skipped = skipped(
  'incomplete',
  contentFree('The spans that were kept do not make a run; see maxSpansPerRun.'),
)

/** The run was given up while its agent was open. */
export const EVICTED: Skipped = skipped(
  'incomplete',
  contentFree('The run was given up before its agent ended: see maxOpenRuns, maxContentBytes and maxRunAgeMs.'),
)

/** Another processor has scored the span. */
export const ALREADY_SCORED: Skipped = skipped(
  'already-scored',
  contentFree('The span carries this score already: two scoring processors see the same spans. Keep one of them.'),
)

/** The span is recorded, and no exporter gets it. */
export const UNSAMPLED: Skipped = skipped(
  'unsampled',
  contentFree('The span is recorded and not sampled; set scoreUnsampled to have it judged.'),
)

/** The run would decide the mean alone. */
export const TOO_HEAVY: Skipped = skipped(
  'refused',
  contentFree(
    'It would count for more than 1,000 runs, and decide the mean alone: ' +
      'raise sample or the budget, so that one run in 1,000 is scored at least.',
  ),
)

/** The queue has no room. */
export const QUEUE_FULL: Skipped = skipped(
  'queue-full',
  contentFree('More runs are to be scored than the queue holds; lower sample, or raise queueSize or concurrency.'),
)

/** The score waited for its turn for too long. */
export const EXPIRED: Skipped = skipped(
  'expired',
  contentFree('The score waited so long for its turn that it was given up; lower sample, or raise concurrency.'),
)

/** The processor ended before the score was in. */
export const SHUT_DOWN: Skipped = skipped(
  'shutdown',
  contentFree('The process was shut down before the score was in; await forceFlush() first.'),
)

/** The run is not among those that a rate keeps. */
export function sampledOut(rate: number): Skipped {
  return skipped('sampled-out', explain`Not among the sampled runs (rate ${rate}).`)
}

/** The scorer's `agent` or `when` leaves the run out. */
export function filteredBy(option: 'agent' | 'when'): Skipped {
  return skipped('filtered', explain`Left out by the scorer's ${contentFree(option)}.`)
}

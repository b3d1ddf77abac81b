import { contentFree, explain } from '../model/explanation.ts'
import type { Skipped } from '../model/score.ts'
import { skipped } from '../scoring/unscored.ts'

/** The run has too much content to read. */
export const TOO_LARGE: Skipped = skipped(
  'no-content',
  contentFree('The scorer would read more than 4 MiB of the run, which would block the application.'),
)

/** The spans that were kept do not form a run. */
export const NO_RUN: Skipped = skipped(
  'incomplete',
  contentFree('The spans that were kept do not form a run. See maxSpansPerRun.'),
)

/** The run was evicted while its agent was open. */
export const EVICTED: Skipped = skipped(
  'incomplete',
  contentFree('The run was evicted before its agent ended. See memoryBytes and maxIdleMs.'),
)

/** Another processor has scored the span. */
export const ALREADY_SCORED: Skipped = skipped(
  'already-scored',
  contentFree(
    'The span already has this score, because two scoring processors see the same spans. Remove one of them.',
  ),
)

/** The span is recorded but not exported. */
export const UNSAMPLED: Skipped = skipped(
  'unsampled',
  contentFree('The span is recorded but not sampled. Set scoreUnsampled to ask judges about it.'),
)

/** The run would dominate the mean. */
export const TOO_HEAVY: Skipped = skipped(
  'refused',
  contentFree(
    'It would count for more than 1,000 runs, and dominate the mean. ' +
      'Raise sample or the budget, so that at least one run in 1,000 is scored.',
  ),
)

/** The queue is full. */
export const QUEUE_FULL: Skipped = skipped(
  'queue-full',
  contentFree('The queue is full. Lower sample, or raise queueSize or concurrency.'),
)

/** The score waited in the queue for too long. */
export const EXPIRED: Skipped = skipped(
  'expired',
  contentFree('The score waited too long in the queue. Lower sample, or raise concurrency.'),
)

/** The processor shut down before the score was in. */
export const SHUT_DOWN: Skipped = skipped(
  'shutdown',
  contentFree('The process was shut down before the score was in. Await forceFlush() first.'),
)

/** The rate does not keep the run. */
export function sampledOut(rate: number): Skipped {
  return skipped('sampled-out', explain`Not among the sampled runs (rate ${rate}).`)
}

/** The scorer's `agent` or `when` excludes the run. */
export function filteredBy(option: 'agent' | 'when'): Skipped {
  return skipped('filtered', explain`Left out by the scorer's ${contentFree(option)}.`)
}

import { contentFree } from '../../model/explanation.ts'
import type { Skipped } from '../../model/score.ts'
import { skipped } from '../../scoring/unscored.ts'

/**
 * Runs that hold more are not read: parsing their content alone would block the application's event loop for longer than any
 * score is worth, whenever it is done.
 */
export const MAX_READ_BYTES: number = 16 * 1024 * 1024

/** The run is larger than `MAX_READ_BYTES`. */
export const TOO_LARGE: Skipped = skipped(
  'no-content',
  contentFree('The run holds more than 16 MiB of content, which is not read: that would block the application.'),
)

/** Another processor has scored the span. */
export const ALREADY_SCORED: Skipped = skipped(
  'already-scored',
  contentFree('The span carries this score already: two scoring processors see the same spans. Keep one of them.'),
)

/** The kept spans make no run. */
export const NO_RUN: Skipped = skipped(
  'incomplete',
  contentFree('The spans that were kept do not make a run; see maxSpansPerRun.'),
)

/** The run was given up. */
export const EVICTED: Skipped = skipped(
  'incomplete',
  contentFree('The run was given up before its agent ended: see maxOpenRuns and maxContentBytes.'),
)

/** Nobody exports the span. */
export const UNSAMPLED: Skipped = skipped(
  'unsampled',
  contentFree('The span is recorded and not sampled; set scoreUnsampled to have it judged.'),
)

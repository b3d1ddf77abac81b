import { contentFree, explain } from '../model/explanation.ts'
import type { Explanation } from '../model/explanation.ts'
import type { Skipped, SkipReason } from '../model/score.ts'
import { skipWithoutFact } from '../scoring/absence.ts'
import type { Reads } from '../scoring/reads.ts'
import { skipped } from '../scoring/unscored.ts'

/** No score, with the reason and what to do about it. The message marks the parts that may quote the run. */
export function skip(reason: SkipReason, message: Explanation): Skipped {
  return skipped(reason, message)
}

/** For scorers of the calls that were made: `skipped: no-content` if they are not recorded, `not-applicable` if there are none. */
export function skipWithoutCalls({ run, scorerId: id }: Reads): Skipped | undefined {
  const unknown = skipWithoutFact(run, 'toolCalls', id)
  if (unknown !== undefined || run.toolCalls.length > 0) return unknown
  return skip('not-applicable', explain`${contentFree(id)}: no tool was called.`)
}

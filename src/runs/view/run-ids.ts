import type { IdsOnSpan } from '../../spans/ids.ts'
import { idsAround } from '../layout/record-ids.ts'
import type { RunPlan } from '../layout/run-layout.ts'

/**
 * All ids that belong to a run: of its spans, of any span above it, and of another record of it. Of several, those of the agent's own span
 * count most, then those inside, then those of the nearest span above.
 */
export function idsOfRun(plan: RunPlan): readonly IdsOnSpan[] {
  const ids = idsAround(plan)
  if (plan.root.otherIds !== undefined) ids.push(plan.root.otherIds)
  return ids
}

/**
 * The id of the conversation or user of a run: of the first name that it has.
 *
 * @param names from the most to the least exact
 */
export function idNamed(ids: readonly IdsOnSpan[], names: readonly (keyof IdsOnSpan)[]): string | undefined {
  for (const name of names) {
    const found = ids.find((each) => each[name] !== undefined)
    if (found !== undefined) return found[name]
  }
  return undefined
}

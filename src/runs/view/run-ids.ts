import type { IdsOnSpan } from '../../spans/ids.ts'
import { idsAround } from '../layout/record-ids.ts'
import type { RunPlan } from '../layout/run-layout.ts'

/**
 * The id of the conversation or user of a run: of the first name that any of its spans has, or any span above it, or another record of the
 * run. Of several, the agent's own span counts most, then those inside, then the nearest above.
 *
 * @param names from the most to the least exact
 */
export function idOfRun(plan: RunPlan, names: readonly (keyof IdsOnSpan)[]): string | undefined {
  const all = [...idsAround(plan), plan.root.otherIds]
  for (const name of names) {
    const found = all.find((ids) => ids?.[name] !== undefined)
    if (found !== undefined) return found[name]
  }
  return undefined
}

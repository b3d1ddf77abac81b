import type { IdsOnSpan } from '../../spans/ids.ts'
import type { TraceSpan } from '../trace-span.ts'
import type { RunPlan } from './run-layout.ts'
import type { RunRecord } from './run-records.ts'

/** The ids that spans of a run have, and spans above it, from the agent's own span to the outermost one above it. */
export function idsAround(run: RunRecord & Partial<Pick<RunPlan, 'inside' | 'asides'>>): IdsOnSpan[] {
  const { root, inside = [], models, tools, asides = [] } = run
  const ids: IdsOnSpan[] = []
  for (const spans of [[root], inside, models, tools, asides]) {
    for (const span of spans) {
      addIds(ids, span)
      for (const inner of span.inner) addIds(ids, inner)
    }
  }
  ids.push(...root.idsAbove())
  return ids
}

function addIds(to: IdsOnSpan[], { ids }: TraceSpan): void {
  if (ids !== undefined) to.push(ids)
}

/** Gives a run the ids of another record of it, which is dropped: only one of two formats may have them. */
export function inheritIds(root: TraceSpan, dropped: Parameters<typeof idsAround>[0]): void {
  for (const ids of idsAround(dropped)) root.otherIds = { ...ids, ...root.otherIds }
}

import type { IdsOnSpan } from '../../spans/ids.ts'
import type { TraceSpan } from '../trace-span.ts'
import type { RunPlan } from './run-layout.ts'
import type { RunRecord } from './run-records.ts'

/** The ids that spans of a run have, and spans above it, from the agent's own span to the outermost one above it. */
export function* idsAround(run: RunRecord & Partial<Pick<RunPlan, 'inside' | 'asides'>>): Generator<IdsOnSpan, void> {
  const { root, inside = [], models, tools, asides = [] } = run
  for (const spans of [[root], inside, models, tools, asides]) yield* idsOfAll(spans)
  yield* root.idsAbove()
}

function* idsOfAll(spans: readonly TraceSpan[]): Generator<IdsOnSpan, void> {
  for (const { ids, inner } of spans) {
    if (ids !== undefined) yield ids
    for (const each of inner) if (each.ids !== undefined) yield each.ids
  }
}

/** Gives a run the ids of another record of it, which is dropped: only one of two formats may have them. */
export function takeIds(root: TraceSpan, dropped: Parameters<typeof idsAround>[0]): void {
  for (const ids of idsAround(dropped)) root.otherIds = { ...ids, ...root.otherIds }
}

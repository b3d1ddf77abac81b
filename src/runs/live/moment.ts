import type { RunPlan } from '../layout/run-layout.ts'
import type { Above } from '../placement.ts'
import type { SpanGroup } from './span-group.ts'

/** What was found out about spans and groups. It is valid until a span starts or ends. */
export class Moment<Span> {
  /** The ancestors of the children of open spans. */
  readonly above: Map<Span, Above> = new Map()
  /** Whether a group has an open graph of a library that writes spans side by side. */
  readonly hasOpenGraph: Map<SpanGroup<Span>, boolean> = new Map()
  /** The runs of several groups together, with their groups, by each of these groups. */
  together: ReadonlyMap<SpanGroup<Span>, readonly SharedRun<Span>[]> | undefined
}

/** A run whose spans are in some groups. */
export interface SharedRun<Span> {
  readonly plan: RunPlan
  readonly groups: ReadonlySet<SpanGroup<Span>>
}

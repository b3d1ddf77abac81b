import type { Above } from '../placement.ts'
import type { SpanGroup } from './span-group.ts'

/** What was found out about spans and groups. It is valid until a span starts or ends. */
export class Moment<Span> {
  /** The ancestors of the children of open spans. */
  readonly above: Map<Span, Above> = new Map()
  /** Whether a group has an open graph of a library that writes spans side by side. */
  readonly hasOpenGraph: Map<SpanGroup<Span>, boolean> = new Map()
  /** The two oldest of the open groups with spans that their library writes beside others. */
  oldestOpen: readonly SpanGroup<Span>[] | undefined
  /** The two oldest of the groups with such spans that contain undecided agents. */
  oldestUndecided: readonly SpanGroup<Span>[] | undefined
}

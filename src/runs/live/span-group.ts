import type { RunPlan } from '../layout/run-layout.ts'

/** The spans of a group at one of its versions. */
export interface KeptSpans<Span> {
  readonly version: number
  readonly spans: readonly Span[]
  /** All runs that they form, by the id of their agent's span, once somebody reads one. */
  plans: ReadonlyMap<string, RunPlan> | undefined
}

/**
 * An outermost recognised span and all recognised spans below it. A group lists and counts them, and does not look into them.
 */
export class SpanGroup<Span> {
  readonly traceId: string
  /** False if no scorer can want a run of this trace; then its spans are counted but not kept. */
  readonly wanted: boolean
  /** When it began, on the store's clock. */
  readonly sinceMs: number
  /** The kept spans, in the order in which they were recognised: in start order, but for those that were recognised late. */
  readonly spans: Set<Span> = new Set()
  /** Open spans, kept or not. */
  openCount = 0
  /** Changes when a span is added or ends. A layout is valid until then. */
  version = 0
  /** The spans that were laid out last. */
  kept: KeptSpans<Span> | undefined
  /** Bytes of content of the kept spans that have ended. */
  contentBytes = 0
  /** Estimated bytes of its spans and log records in memory. */
  heldBytes = 0
  /** Ended agents whose runs wait for spans below them. */
  readonly waiting: Set<Span> = new Set()
  /** Those of them that may wait for nothing any more. */
  due: Span[] = []
  /** Whether everything below its agent is ignored, because nobody wants the run and nobody counts nested ones. */
  isSkipped = false
  /** Agents that ended below spans whose kind is not known yet. */
  undecided: Span[] = []
  /** Whether it contained a run of its own. */
  hasRun = false
  /** Whether it contained a run that another group records too. Then its spans stay, and join no other run. */
  hasDuplicate = false
  /** Whether it contains a model or tool call. */
  hasWork = false
  /** Whether spans were dropped at the limit. */
  truncated = false
  closed = false
  /** The last start or end of a span that its library writes beside others, on the store's clock. */
  flatAtMs: number = Number.NEGATIVE_INFINITY
  /** Its number among the groups with such spans, in the order in which they began. */
  flatOrder: number = Number.POSITIVE_INFINITY
  /** It waits for open groups up to this number: those that had begun when this one, or an agent in it, ended. */
  waitsUpTo = 0
  /** Whether spans of other groups that belong to its runs were moved into it. */
  isGathered = false
  /** Agents with settled runs whose spans are still needed to decide others of the group. */
  settled: Span[] = []
  /** Groups whose run may include some spans of this group. It waits for them. */
  readonly readBy: SpanGroup<Span>[] = []
  /** Its neighbours in the order in which groups began. Only `SpanGroups` writes them. */
  older: SpanGroup<Span> | undefined
  newer: SpanGroup<Span> | undefined

  constructor(traceId: string, wanted: boolean, sinceMs: number) {
    this.traceId = traceId
    this.wanted = wanted
    this.sinceMs = sinceMs
  }

  /** The outermost span, if it was recognised after others of the group. */
  lateTop: Span | undefined

  /** The outermost span. */
  get top(): Span | undefined {
    if (this.lateTop !== undefined && this.spans.has(this.lateTop)) return this.lateTop
    for (const span of this.spans) return span
    return undefined
  }

  /** Whether it has spans that their library writes beside others of their run. */
  get isFlat(): boolean {
    return this.flatAtMs !== Number.NEGATIVE_INFINITY
  }
}

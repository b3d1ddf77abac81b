/**
 * The recognised spans of an outermost recognised span: it, and all below it. A group lists them and counts; what they are does
 * not matter to it.
 */
export class SpanGroup<Span> {
  readonly traceId: string
  /** False where no scorer can want a run of this trace: its spans are counted and not kept. */
  readonly wanted: boolean
  /** When it began, on the store's clock. */
  readonly sinceMs: number
  /** The spans that are kept, in the order of their starts. */
  spans: Span[] = []
  /** Spans that have started and not ended, kept or not. */
  openCount = 0
  /** How often a span was added, or has ended: a layout is as good as long as this is the same. */
  version = 0
  /** Bytes of content of the kept spans that have ended. */
  contentBytes = 0
  /** Bytes that its spans and log records hold, estimated. */
  heldBytes = 0
  /** Agents that ended, and whose runs wait for spans below them. */
  waiting: Span[] = []
  /** True where nothing below its agent is looked at: nobody wants the run, and nobody counts nested ones. */
  isSkipped = false
  /** Agents that ended below spans of which it is not known yet what they are. */
  undecided: Span[] = []
  /** Whether a run of its own was found in it. */
  hasRun = false
  /** Whether a run was found in it that is recorded in another group, too: its spans stay, and are of no other run. */
  hasDuplicate = false
  /** Whether a model or a tool was called in it. */
  hasWork = false
  /** True where spans were left out over the limit. */
  truncated = false
  closed = false
  /** When a span that its library writes beside others last started or ended in it, on the store's clock. */
  flatAtMs: number = Number.NEGATIVE_INFINITY
  /** Groups with such spans that were open when this one, or an agent in it, ended. */
  waitsBeside: SpanGroup<Span>[] = []
  /** Groups with a run that some spans of this group may belong to: it waits for them. */
  readonly readBy: SpanGroup<Span>[] = []
  /** Its neighbours in the order in which groups began: `SpanGroups` alone writes them. */
  older: SpanGroup<Span> | undefined
  newer: SpanGroup<Span> | undefined

  constructor(traceId: string, wanted: boolean, sinceMs: number) {
    this.traceId = traceId
    this.wanted = wanted
    this.sinceMs = sinceMs
  }

  /** Whether spans are in it that their library writes beside others of their run. */
  get isFlat(): boolean {
    return this.flatAtMs !== Number.NEGATIVE_INFINITY
  }
}

import type { LiveRun } from './live-run.ts'
import type { LiveSpan } from './live-span.ts'
import type { LocalSpan } from './local-span.ts'

/** The recognised spans of an outermost recognised span: it, and all below it. */
export class SpanGroup {
  readonly traceId: string
  /** False where no scorer can want a run of this trace: its spans are counted and not kept. */
  readonly wanted: boolean
  /** When it began, on the store's clock. */
  readonly sinceMs: number
  /** The spans that are kept, in the order of their starts. */
  spans: LiveSpan[] = []
  /** Spans that have started and not ended, kept or not. */
  openCount = 0
  /** How often a span was added, or has ended: a layout is as good as long as this is the same. */
  version = 0
  /** Bytes of content of the kept spans that have ended. */
  contentBytes = 0
  /** Bytes that its spans and log records hold, estimated. */
  heldBytes = 0
  /** Runs that ended, and wait for spans below them. */
  waiting: LiveRun[] = []
  /** True where nothing below its agent is looked at: nobody wants the run, and nobody counts nested ones. */
  isSkipped = false
  /** Agents that ended below spans of which it is not known yet what they are. */
  undecided: LiveSpan[] = []
  /** Whether a run of its own was found in it. */
  hasRun = false
  /** Whether a model or a tool was called in it. */
  hasWork = false
  /** True where spans were left out over the limit. */
  truncated = false
  closed = false
  /** The open span whose end it waits for, where no agent is in it. */
  waitsFor: LocalSpan | undefined
  /** When a span that its library writes beside others last started or ended in it, on the store's clock. */
  flatAtMs: number = Number.NEGATIVE_INFINITY
  /** Groups with such spans that were open when this one, or an agent in it, ended. */
  waitsBeside: SpanGroup[] = []
  /** Groups with a run that some spans of this group may belong to: it waits for them. */
  readonly readBy: SpanGroup[] = []
  /** Its neighbours in the order in which groups began: `SpanGroups` alone writes them. */
  older: SpanGroup | undefined
  newer: SpanGroup | undefined

  constructor(traceId: string, wanted: boolean, sinceMs: number) {
    this.traceId = traceId
    this.wanted = wanted
    this.sinceMs = sinceMs
  }

  /** Whether spans are in it that their library writes beside others of their run. */
  get isFlat(): boolean {
    return this.flatAtMs !== Number.NEGATIVE_INFINITY
  }

  /**
   * Whether a graph of a library that writes its spans side by side is at work in the group, or a span that may turn out to be
   * one.
   */
  get hasOpenGraph(): boolean {
    return this.spans.some((span) => {
      if (!span.isOpen || !span.isFlat) return false
      span.lookAgain()
      return span.role === 'agent' || !span.saysItsKind
    })
  }
}

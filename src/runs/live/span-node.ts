import type { Dialect, SpanRole } from '../../spans/dialect.ts'
import { toSourceSpan } from '../../spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { saysItsKind } from '../../spans/recognition-hints.ts'
import { recognise, roleOf } from '../../spans/recognise.ts'
import type { SourceLog, SourceSpan } from '../../spans/source-span.ts'
import type { LiveRun } from './live-run.ts'
import type { LocalSpan } from './local-span.ts'

/** A span that a dialect recognised, from its start until its run is closed. */
export class SpanNode {
  readonly span: SdkSpanLike
  readonly local: LocalSpan
  group: SpanGroup
  dialect: Dialect
  /** How many spans had started before it: start times tie. */
  readonly #startOrder: number
  /** Whether it was known at its start what it is. */
  readonly saidItsKind: boolean
  /** Set when the span has ended: what it is to its run. */
  role: SpanRole | undefined
  /** Bytes of content, once it has ended. */
  contentBytes = 0
  /** The run that this span is the agent of, once it has ended. */
  run: LiveRun | undefined
  #source: SourceSpan | undefined

  constructor(span: SdkSpanLike, dialect: Dialect, local: LocalSpan, group: SpanGroup, startOrder: number) {
    this.span = span
    this.dialect = dialect
    this.local = local
    local.node = this
    this.group = group
    this.#startOrder = startOrder
    this.saidItsKind = saysItsKind(span.attributes)
  }

  /** By the order of the hooks: false from the span's `onEnding` (or, where that is not called, `onEnd`) on. */
  get open(): boolean {
    return this.local.open
  }

  /** Whether its run is closed: spans that start below, or end, are late. */
  get closed(): boolean {
    return this.group.closed
  }

  get source(): SourceSpan {
    this.#source ??= toSourceSpan(this.span, this.#startOrder)
    return this.#source
  }

  /** Lets go of the run that it was part of: the span, which leads here, may lie in an exporter's queue for long. */
  retire(): void {
    this.local.retire()
    this.group = RETIRED
    this.run = undefined
    this.#source = undefined
  }

  /** Some spans are told apart only by what is written on them at their end. */
  recogniseAgain(): void {
    this.dialect = recognise(this.source.scope.name, this.span.attributes, this.span.name) ?? this.dialect
  }

  /** What the span is to a run, as far as its attributes tell by now. */
  get currentRole(): SpanRole {
    return this.role ?? roleOf(this.dialect, this.source)
  }
}

/** The recognised spans of an outermost recognised span: it, and all below it. */
export class SpanGroup {
  readonly traceId: string
  /** False where no scorer can want a run of this trace: its spans are counted and not kept. */
  readonly wanted: boolean
  /** The spans that are kept, in the order of their starts. */
  nodes: SpanNode[] = []
  /** Spans that have started and not ended, kept or not. */
  openCount = 0
  /** Bytes of content of the kept spans that have ended. */
  contentBytes = 0
  /** Log records in which instrumentations wrote messages of these spans. */
  readonly logs: SourceLog[] = []
  /** Runs that ended, and wait for spans below them. */
  waiting: LiveRun[] = []
  /** True where nothing below its agent is looked at: nobody wants the run, and nobody counts nested ones. */
  isSkipped = false
  /** Agents that ended below spans of which it is not known yet what they are. */
  undecided: SpanNode[] = []
  /** Whether a run of its own was found in it. */
  hasRun = false
  /** Whether a model or a tool was called in it. */
  hasWork = false
  /** True where spans were left out over the limit. */
  truncated = false
  closed = false
  /** Its neighbours in the order in which groups began: `SpanGroups` alone writes them. */
  older: SpanGroup | undefined
  newer: SpanGroup | undefined

  constructor(traceId: string, wanted: boolean) {
    this.traceId = traceId
    this.wanted = wanted
  }
}

/** Stands for all groups that are over. */
const RETIRED = new SpanGroup('', false)
RETIRED.closed = true

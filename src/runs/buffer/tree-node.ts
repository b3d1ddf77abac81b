import type { Dialect, SpanRole } from '../../spans/dialect.ts'
import { SdkSourceSpan } from '../../spans/from-sdk-span.ts'
import type { ReplacedValues, SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { saysItsKind } from '../../spans/recognition-hints.ts'
import { recognise, roleOf } from '../../spans/recognise.ts'
import type { SourceLog, SourceSpan } from '../../spans/source-span.ts'
import { idsOf } from '../../spans/ids.ts'
import { surroundingOf } from '../../spans/surrounding.ts'
import type { Surrounding } from '../../spans/surrounding.ts'
import type { IdsOnSpan } from '../../spans/ids.ts'
import { MAX_ABOVE, TraceSpan } from '../trace-span.ts'

/**
 * Where a span is in its trace, whether a dialect recognises it or not. Children refer to the nodes of their parents, so that a node lives
 * no longer than the spans below it. Only a node with something recognised in it is listed in its parent (`below`).
 */
export class TreeNode {
  readonly spanId: string
  /** The id that the span names as its parent; empty if it names none. */
  readonly parentId: string
  /** Whether the parent belongs to another process. */
  readonly isRemote: boolean
  /** The parent, if it was seen. */
  above: TreeNode | undefined
  isOpen = true
  /** The SDK's span, while it is open. */
  sdk: SdkSpanLike | undefined
  /** The ids of the conversation and the user that the span has, whether a dialect recognises it or not; of this process, those at its start. */
  ids: IdsOnSpan | undefined
  /** The node above it that was removed from the tree before it. */
  removedAbove: TreeNode | undefined
  /** What describes the runs below it, if no dialect recognises it and it has ended. */
  surrounding: Surrounding | undefined
  /** The ids in the baggage of its parent context. */
  idsInBaggage: IdsOnSpan | undefined
  /** How many spans had started before it in this process. */
  readonly startOrder: number
  /** The span, once a dialect recognises it, until its trace is finished. */
  span: LiveSpan | undefined
  /** What the span was when it ended, if it was recognised. */
  role: SpanRole | undefined
  /** Children with something recognised in them. */
  below: TreeNode[] | undefined
  /** Whether it is in the list of its parent. */
  isListed = false
  /** How many of the nodes below it are active. */
  openBelow = 0
  /** Whether nothing below it is looked at, because nobody wants its run. */
  isSkipped = false
  /** Whether its run is final, so that what begins below it is late. */
  isOver = false
  /** Whether its run was given up while it was open, so that its end is late. */
  isCut = false
  /** Whether it was not recognised at its end, before other processors wrote to it. */
  isAsked = false
  /** Whether a trace waits for the end of this span. */
  isAwaited = false
  /** Log records that came before the span was recognised. */
  logs: SourceLog[] | undefined

  constructor(
    ids: Pick<TreeNode, 'spanId' | 'parentId' | 'isRemote'>,
    above: TreeNode | undefined,
    sdk: SdkSpanLike | undefined,
    startOrder: number,
  ) {
    this.spanId = ids.spanId
    this.parentId = ids.parentId
    this.isRemote = ids.isRemote
    this.above = above
    this.sdk = sdk
    this.ids = sdk && idsAtStart(sdk)
    this.startOrder = startOrder
  }

  /** Whether it, or anything below it, is recognised and open. */
  get isActive(): boolean {
    return this.openBelow > 0 || this.span?.isOpen === true
  }

  /** Keeps what the span says about the runs below it: the ids outlive the span in its node. */
  describe(attributes: SourceSpan['attributes'], dialect: Dialect | undefined): void {
    this.ids = (dialect && idsOf(attributes, dialect)) ?? idsOf(attributes, undefined)
    if (dialect === undefined) this.surrounding = surroundingOf(attributes)
  }

  /** What describes the runs below it, of an open span as far as it is written. */
  describes(): Surrounding | undefined {
    return this.surrounding ?? (this.sdk && this.role === undefined ? readSdk(this.sdk, surroundingOf) : undefined)
  }

  /** The node above it, also if it was removed from the tree. */
  get describedBy(): TreeNode | undefined {
    return this.above ?? this.removedAbove
  }

  /** Whether its parent is named and belongs to this process, but was not seen. */
  get isLost(): boolean {
    return this.above === undefined && this.parentId !== '' && !this.isRemote
  }
}

function idsAtStart(span: SdkSpanLike): IdsOnSpan | undefined {
  return readSdk(span, (attributes) => idsOf(attributes, undefined))
}

/** Attributes are the application's own object: reading them may throw. */
function readSdk<T>({ attributes }: SdkSpanLike, read: (attributes: SdkSpanLike['attributes']) => T): T | undefined {
  try {
    return read(attributes)
  } catch {
    return undefined
  }
}

/** A recognised span in its node. Unlike a span of a file, it may be open. */
export class LiveSpan extends TraceSpan {
  readonly node: TreeNode
  /** The outermost recognised span above it when it was recognised, or itself. */
  readonly outermost: LiveSpan
  /** The outermost agent that was known when it was recognised, or else the outermost span: the spans of one run have it in common. */
  readonly top: LiveSpan
  /** Of a top: how many recognised spans it has that are in no final run, itself included. */
  size = 1
  /** Of a top: whether spans below it were left out at a limit, or began before they could be seen. */
  isTruncated = false
  /** The SDK's span, if it is one of this process. */
  readonly sdk: SdkSpanLike | undefined
  /** Bytes of content, once it has ended. */
  contentBytes = 0
  /** Estimated bytes in memory with its log records, and those without them when it began. */
  heldBytes = 0
  ownBytes = 0
  /** Whether its kind is known: many spans only reveal it when they end. */
  saidItsKind: boolean
  /** Whether it is in a run that is final. */
  isCovered = false
  /** Whether the facts that a layout needs were read. */
  isRead = false
  /** The log records with which its content was read, once it had ended. */
  readWith: readonly SourceLog[] | undefined
  /** Whether it said at its start what it is. Otherwise it is recognised again until its end. */
  readonly #isCertain: boolean
  readonly #source: SourceSpan
  #newLogs: SourceLog[] | undefined

  constructor(
    node: TreeNode,
    source: SourceSpan,
    dialect: Dialect,
    { above, logs }: { readonly above?: LiveSpan | undefined; readonly logs?: readonly SourceLog[] | undefined } = {},
  ) {
    super(source, dialect, roleOf(dialect, source), logs)
    this.node = node
    this.#source = source
    this.sdk = node.sdk
    this.outermost = above?.outermost ?? this
    this.top = above === undefined || (this.role === 'agent' && above.top.role !== 'agent') ? this : above.top
    this.isOpen = node.isOpen
    this.#isCertain = !node.isOpen || saysItsKind(dialect, source)
    this.saidItsKind = this.#isCertain
  }

  /** Whether it is an agent, or may turn out to be one. */
  get isAgent(): boolean {
    return this.role === 'agent' || this.role === 'entry'
  }

  get isWork(): boolean {
    return this.role === 'model' || this.role === 'tool' || this.role === 'handoff'
  }

  /** How many log records it has so far. */
  get logCount(): number {
    return this.logs.length + (this.#newLogs?.length ?? 0)
  }

  /** Must be called before an open span is read, to include the attributes written so far. */
  lookAgain(): void {
    if (this.#isCertain) return
    const { scope, attributes, name } = this.span
    this.dialect = recognise(scope.name, attributes, name) ?? this.dialect
    this.role = roleOf(this.dialect, this.span)
    this.saidItsKind = !this.isOpen || saysItsKind(this.dialect, this.span)
    this.forget()
  }

  /** Must be called when it is ending. Its facts are final from now on: they are read from values that nobody else can change. */
  end(taken: ReplacedValues): void {
    this.isOpen = false
    if (this.#source instanceof SdkSourceSpan) this.#source.replace(taken)
    this.lookAgain()
    // The role of some spans depends on attributes of their end, although others said what they are before.
    this.role = roleOf(this.dialect, this.span)
    this.forget()
  }

  override *idsAbove(): Generator<IdsOnSpan, void> {
    let left = MAX_ABOVE
    for (let above = this.node.describedBy; above !== undefined && left > 0; above = above.describedBy) {
      left -= 1
      const ids = above.span?.ids ?? above.ids
      if (ids !== undefined) yield ids
    }
    if (this.node.idsInBaggage !== undefined) yield this.node.idsInBaggage
  }

  override *surroundings(): Generator<Surrounding, void> {
    let left = MAX_ABOVE
    for (let above = this.node.describedBy; above !== undefined && left > 0; above = above.describedBy) {
      left -= 1
      const surrounding = above.span === undefined ? above.describes() : undefined
      if (surrounding !== undefined) yield surrounding
    }
  }

  addLog(log: SourceLog): void {
    this.#newLogs ??= []
    this.#newLogs.push(log)
  }

  /** Must be called before content of log records is read, because they may arrive in any order. */
  readLogs(): void {
    if (this.#newLogs === undefined) return
    this.takeLogs([...this.logs, ...this.#newLogs].toSorted((left, right) => left.timeMs - right.timeMs))
    this.#newLogs = undefined
  }
}

import type { Dialect } from '../spans/dialect.ts'
import type { SdkSpanLike } from '../spans/from-sdk-span.ts'
import type { SourceLog } from '../spans/source-span.ts'
import { assembleRuns, findRun } from './assemble-runs.ts'
import { BareRuns } from './bare-runs.ts'
import { beganBefore } from './began-before.ts'
import { bytesOf, contentBytesOf } from './content-bytes.ts'
import { Deadlines } from './deadlines.ts'
import { hasOpenGraph, isAmongOpenGraphs, isFlat } from './flat-graphs.ts'
import { LiveRun } from './live-run.ts'
import type { LiveRunSource } from './live-run.ts'
import { recogniseSpan } from './recognise-span.ts'
import { isUnderUnknown, placeOf } from './run-place.ts'
import { Settlement } from './settlement.ts'
import { SpanGroups } from './span-groups.ts'
import { SpanLinks } from './span-links.ts'
import type { Link, LocalSpan } from './span-links.ts'
import { SpanNode } from './span-node.ts'
import type { SpanGroup } from './span-node.ts'
import type { TraceStoreOptions } from './trace-store-options.ts'
import { ToldResponses } from './told-responses.ts'

/** A started span, as processors get it. */
export type StartedSpan = SdkSpanLike & LocalSpan

/** The span that is active where another one starts, of this process or not. */
export type ParentSpan = LocalSpan & Pick<SdkSpanLike, 'spanContext'>

/**
 * The recognised spans of runs that are not closed yet, and what of them is open: by the order of the hooks, never by
 * timestamps. Runs are put together by `buildRuns`, when somebody asks for one.
 *
 * Spans that no dialect recognises leave nothing here but a link on the span object itself.
 */
export class TraceStore {
  readonly #options: TraceStoreOptions
  readonly #links = new SpanLinks()
  readonly #groups = new SpanGroups()
  readonly #deadlines: Deadlines
  readonly #told = new ToldResponses()
  readonly #source: LiveRunSource
  readonly #bare: BareRuns
  readonly #settlement: Settlement
  #started = 0

  constructor(options: TraceStoreOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.settleMs, options.now)
    this.#source = {
      // All of the group, and not only what is below the agent: some libraries write a run's spans side by side.
      members: ({ group }) => group.nodes,
      hasOpenSpans: (run) => this.#hasOpenSpans(run),
      beganHere: ({ node }) => this.#links.beganHere(node),
      build: ({ node, group }, nodes, revision) => {
        const { logs, truncated: lacksSpans } = group
        return findRun(assembleRuns({ nodes, logs, links: this.#links, revision, lacksSpans }), node.source.spanId)
      },
    }
    this.#bare = new BareRuns({
      groups: this.#groups,
      links: this.#links,
      deadlines: this.#deadlines,
      onSettled: (run) => options.onSettled(run, true),
      close: (group) => this.#close(group),
    })
    this.#settlement = new Settlement({
      deadlines: this.#deadlines,
      rescore: options.rescore,
      onSettled: options.onSettled,
      close: (group) => this.#close(group),
      forget: (agent) => this.#forget(agent),
    })
  }

  /** Runs that have begun and are not closed. */
  get openRuns(): number {
    let open = this.#settlement.waiting
    for (const group of this.#groups) if (!group.hasRun) open += 1
    return open
  }

  /** Bytes of content that is kept. */
  get contentBytes(): number {
    return this.#groups.contentBytes
  }

  /** When something is next due, on the clock of `now`; `undefined` where nothing is waited for. */
  get nextDeadlineMs(): number | undefined {
    return this.#deadlines.nextMs
  }

  /** To be called when a span starts, with the span that is active in its parent context. */
  start(span: StartedSpan, parent: ParentSpan | undefined): void {
    const above = parent === undefined ? null : (this.#links.below(parent) ?? this.#strangerAbove(parent))
    // Nobody wants to know what is below an agent whose run no scorer wants.
    if (above instanceof SpanNode && above.group.isSkipped) {
      this.#links.set(span, above)
      return
    }
    const dialect = recogniseSpan(span)
    this.#started += 1
    if (dialect === undefined || dialect === 'ordinary') {
      this.#links.set(span, above)
      if (dialect === undefined) this.#links.askAgain(span, this.#started)
      return
    }
    this.#links.set(span, this.#startNode(span, dialect, above))
  }

  /** The node of a span, where a dialect recognises it: at its start, or by what was written on it since. */
  nodeOf(span: SdkSpanLike): SpanNode | undefined {
    return this.#links.ownNode(span) ?? this.#recogniseLate(span)
  }

  /**
   * To be called when a recognised span is ending, from `onEnding` or, where that was not called for it, from `onEnd`.
   * Gives the run whose agent it is, if it is one: what can be said at once is said now, the rest when it is settled.
   */
  ending(node: SpanNode): LiveRun | undefined {
    if (!node.open) return node.run
    node.open = false
    node.group.openCount -= 1
    if (node.closed) return undefined
    if (node.group.wanted && !node.saidItsKind) node.recogniseAgain()
    node.role = node.currentRole
    if (node.role === 'model') this.#told.note(node.source)
    if (node.role === 'model' || node.role === 'tool' || node.role === 'agent') node.group.hasWork = true
    this.#countContent(node)
    if (node.group.undecided.length > 0) this.#decideUndecided(node.group)
    if (node.role !== 'agent' && node.role !== 'entry') return undefined
    if (this.#isUndecided(node)) {
      node.group.undecided.push(node)
      return undefined
    }
    node.run = this.#runOf(node)
    return node.run
  }

  /** Agents that ended before it was known what stands around them: their runs are told now, from spans that have gone on. */
  #decideUndecided(group: SpanGroup): void {
    for (const node of group.undecided.filter((undecided) => !this.#isUndecided(undecided))) {
      group.undecided.splice(group.undecided.indexOf(node), 1)
      node.run = this.#runOf(node)
      if (node.run !== undefined) this.#settlement.wait(node.run)
    }
  }

  #isUndecided(node: SpanNode): boolean {
    return isUnderUnknown(node, this.#links) || isAmongOpenGraphs(node)
  }

  /** To be called when a recognised span has ended, after `ending`: closes what waited for it. */
  ended(node: SpanNode): void {
    if (node.closed) this.#options.onLate()
    else this.#advance(node)
    this.#bare.spanEnded(node.span)
  }

  /** To be called when any other span has ended. */
  ordinaryEnded(span: SdkSpanLike): void {
    this.#links.shorten(span)
    this.#bare.spanEnded(span)
  }

  /** Keeps a log record in which an instrumentation wrote messages, with the span that it belongs to. */
  addLog(log: SourceLog): void {
    for (const group of this.#groups.ofTrace(log.traceId)) {
      if (!group.wanted || !group.nodes.some((node) => node.source.spanId === log.spanId)) continue
      group.logs.push(log)
      this.#groups.addContent(group, bytesOf(log.attributes) + bytesOf(log.body))
    }
  }

  /** Closes what has waited long enough. */
  sweep(): void {
    this.#deadlines.sweep()
  }

  /** Closes the model calls without an agent that wait for further ones by the clock, as at a flush. */
  settleBare(): void {
    this.#bare.settleAll()
  }

  /** Closes what waits for spans or for the clock, as at a shutdown. Runs whose agent is open stay. */
  settleAll(): void {
    this.#deadlines.sweepAll()
    this.#bare.giveUpWaiting()
  }

  #startNode(span: StartedSpan, dialect: Dialect, above: Link): SpanNode {
    const parentNode = this.#links.nearestNode(above)
    if (parentNode?.closed) {
      // Linked past the latecomer, so that a chain of them does not grow.
      this.#options.onLate()
      return parentNode
    }
    if (parentNode !== undefined)
      return this.#addNode(new SpanNode(span, dialect, above, parentNode.group, this.#started))
    const group = this.#openGroup(span)
    const root = this.#addNode(new SpanNode(span, dialect, above, group, this.#started))
    group.isSkipped = !group.wanted && !this.#options.countsNested && root.currentRole === 'agent'
    return root
  }

  /** Above a span that did not start here: another provider's, or a wrapper that an instrumentation put around one of ours. */
  #strangerAbove(parent: ParentSpan): Link {
    if (!parent.isRecording()) return null
    const { traceId, spanId } = parent.spanContext()
    for (const group of this.#groups.ofTrace(traceId)) {
      const wrapped = group.nodes.find((node) => node.source.spanId === spanId)
      if (wrapped) return wrapped
    }
    return this.#unseenAbove(parent)
  }

  /** A span that was open before the store was there: what it is part of has lost its beginning, and says so. */
  #unseenAbove(parent: ParentSpan): Link {
    if (!beganBefore(parent, this.#options.sinceMs)) return null
    const dialect = recogniseSpan(parent)
    if (dialect === undefined || dialect === 'ordinary') return null
    const node = this.#startNode(parent, dialect, null)
    node.group.truncated = true
    this.#links.set(parent, node)
    return node
  }

  #openGroup(span: SdkSpanLike): SpanGroup {
    const { traceId } = span.spanContext()
    const group = this.#groups.open(traceId, this.#options.isWanted(traceId))
    if (this.#groups.size > this.#options.maxOpenRuns) this.#evictOldest()
    return group
  }

  #addNode(node: SpanNode): SpanNode {
    const { group } = node
    group.openCount += 1
    // The first is kept even of a group that nobody wants: it is what the run is counted by.
    if (group.nodes.length === 0 || (group.wanted && group.nodes.length < this.#options.maxSpansPerRun)) {
      group.nodes.push(node)
    } else if (group.wanted) {
      group.truncated = true
    }
    return node
  }

  /** Many instrumentations, and most spans written by hand, set their attributes only after the start. */
  #recogniseLate(span: SdkSpanLike): SpanNode | undefined {
    const startOrder = this.#links.takeAsk(span)
    if (startOrder === undefined) return undefined
    const dialect = recogniseSpan(span)
    if (dialect === undefined || dialect === 'ordinary') return undefined
    const above = this.#links.get(span)
    // One that did not start here has no ancestry to go by; one below a closed run was counted as late when it started.
    if (above === undefined) return undefined
    const parentNode = this.#links.nearestNode(above)
    if (parentNode?.closed) return undefined
    const group = parentNode?.group ?? this.#openGroup(span)
    const node = this.#addNode(new SpanNode(span, dialect, above, group, startOrder))
    this.#links.set(span, node)
    this.#adopt(node)
    return node
  }

  /** Groups that began below a span before it was recognised belong to it. */
  #adopt(node: SpanNode): void {
    for (const other of this.#groups.ofTrace(node.group.traceId)) {
      const root = other.nodes[0]
      if (other === node.group || root === undefined || !this.#links.passes(root.above, node.span)) continue
      this.#groups.merge(other, node.group)
    }
  }

  #countContent(node: SpanNode): void {
    if (!node.group.wanted) return
    node.contentBytes = contentBytesOf(node.span)
    this.#groups.addContent(node.group, node.contentBytes)
    while (this.#groups.contentBytes > this.#options.maxContentBytes && this.#evictOldest());
  }

  #runOf(node: SpanNode): LiveRun | undefined {
    const { group } = node
    const place = group.wanted && isFlat(node) ? this.#placeInRuns(node) : placeOf(node, this.#links)
    if (place === undefined || group.closed) return undefined
    if (place === 'nested' && !this.#options.countsNested) return undefined
    if (place === 'run') group.hasRun = true
    const models = group.nodes.filter((other) => other.role === 'model' && this.#isBelow(other, node))
    if (
      this.#told.tells(
        node.source,
        models.map((model) => model.source),
      )
    )
      return undefined
    return new LiveRun(node, place, this.#source)
  }

  /** Where parents do not tell, the runs that the spans make up by now do. */
  #placeInRuns({ source, group }: SpanNode): 'run' | 'nested' | undefined {
    const { nodes, logs, truncated: lacksSpans } = group
    const runs = assembleRuns({ nodes, logs, links: this.#links, revision: 1, lacksSpans })
    if (runs.some((run) => run.spanId === source.spanId)) return 'run'
    return findRun(runs, source.spanId) === undefined ? undefined : 'nested'
  }

  #hasOpenSpans({ node, nested }: LiveRun): boolean {
    const { openCount, nodes } = node.group
    if (openCount === 0 || (!nested && node === nodes[0])) return openCount > 0
    return nodes.some((other) => other.open && this.#isBelow(other, node))
  }

  #isBelow(node: SpanNode, ancestor: SpanNode): boolean {
    return node === ancestor || this.#links.passes(node.above, ancestor.span)
  }

  /** A recognised span has ended: what waited for it is settled, and a group in which nothing is open is closed. */
  #advance(node: SpanNode): void {
    const { group, run } = node
    if (run !== undefined) {
      if (run.hasOpenSpans) this.#settlement.wait(run)
      else this.#settlement.settle(group, run)
    }
    this.#settlement.settleDue(group)
    if (group.openCount === 0 && !group.closed) this.#finish(group)
  }

  /** A run within a group that goes on (a workflow, a loop) is over: its spans are let go of. */
  #forget(agent: SpanNode): void {
    const { group } = agent
    // What stands beside a graph is of its run, unless another one is at work.
    const isBeside = isFlat(agent) && !hasOpenGraph(group)
    if (isBeside) this.#settlement.settleDue(group)
    this.#groups.forget(group, (node) => this.#isBelow(node, agent) || (isBeside && !node.open && isFlat(node)))
  }

  /** All its spans have ended. */
  #finish(group: SpanGroup): void {
    if (group.hasRun || !group.hasWork) {
      this.#close(group)
      return
    }
    this.#bare.wait(group)
  }

  #evictOldest(): boolean {
    const { oldest } = this.#groups
    if (oldest === undefined) return false
    const [agent] = oldest.nodes
    if (oldest.waiting.length > 0) this.#settlement.settleAllOf(oldest)
    else if (agent !== undefined && !oldest.hasRun) {
      this.#options.onEvicted(new LiveRun(agent, 'run', { ...this.#source, build: () => undefined }))
    }
    if (!oldest.closed) this.#close(oldest)
    return true
  }

  #close(group: SpanGroup): void {
    this.#settlement.settleAllOf(group)
    if (!group.closed) this.#groups.close(group)
  }
}

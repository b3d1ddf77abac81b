import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import { assembleRuns, findRun } from '../assemble-runs.ts'
import { BareRuns } from './agentless-runs.ts'
import { bytesOf, contentBytesOf } from './content-bytes.ts'
import { Deadlines } from './deadlines.ts'
import { hasOpenGraph, isAmongOpenGraphs, isFlat } from './flat-graphs.ts'
import { LiveRun } from './live-run.ts'
import type { LiveRunSource } from './live-run.ts'
import { isUnderUnknown, placeOf } from './run-place.ts'
import { Settlement } from './settlement.ts'
import { SpanGroups } from './span-groups.ts'
import { SpanIntake } from './span-intake.ts'
import { beganHere, passes } from './local-span.ts'
import { SpanLinks } from './span-links.ts'
import type { ParentSpan } from './span-links.ts'
import type { SpanGroup, SpanNode } from './span-node.ts'
import type { TraceStoreOptions } from './trace-store-options.ts'
import { ToldResponses } from './seen-response-ids.ts'

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
  readonly #intake: SpanIntake
  readonly #source: LiveRunSource
  readonly #bare: BareRuns
  readonly #settlement: Settlement

  constructor(options: TraceStoreOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.settleMs, options.now)
    this.#intake = new SpanIntake(this.#links, this.#groups, options, () => this.#evictOldest())
    this.#source = {
      // All of the group, and not only what is below the agent: some libraries write a run's spans side by side.
      members: ({ group }) => group.nodes,
      hasOpenSpans: (run) => this.#hasOpenSpans(run),
      beganHere: ({ node }) => beganHere(node.local),
      build: ({ node, group }, nodes, revision) => {
        const { logs, truncated: lacksSpans } = group
        return findRun(assembleRuns({ nodes, logs, revision, lacksSpans }), node.source.spanId)
      },
    }
    this.#bare = new BareRuns({
      groups: this.#groups,
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
  start(span: SdkSpanLike, parent: ParentSpan | undefined): void {
    this.#intake.start(span, parent)
  }

  /** The node of a span, where a dialect recognises it: at its start, or by what was written on it since. */
  nodeOf(span: SdkSpanLike): SpanNode | undefined {
    return this.#intake.nodeOf(span)
  }

  /**
   * To be called when a recognised span is ending, from `onEnding` or, where that was not called for it, from `onEnd`.
   * Gives the run whose agent it is, if it is one: what can be said at once is said now, the rest when it is settled.
   */
  ending(node: SpanNode): LiveRun | undefined {
    if (!node.open) return node.run
    node.local.open = false
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
    return isUnderUnknown(node) || isAmongOpenGraphs(node)
  }

  /** To be called when a recognised span has ended, after `ending`: closes what waited for it. */
  ended(node: SpanNode): void {
    if (node.closed) this.#options.onLate()
    else this.#advance(node)
    this.#bare.spanEnded(node.local)
  }

  /** To be called when any other span has ended. */
  ordinaryEnded(span: SdkSpanLike): void {
    const local = this.#links.get(span)
    if (local === undefined) return
    // It was recognised, and its run was closed while it was open.
    if (local.isOver && local.open) this.#options.onLate()
    local.open = false
    this.#links.shorten(local)
    this.#bare.spanEnded(local)
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

  #countContent(node: SpanNode): void {
    if (!node.group.wanted) return
    node.contentBytes = contentBytesOf(node.span)
    this.#groups.addContent(node.group, node.contentBytes)
    while (this.#groups.contentBytes > this.#options.maxContentBytes && this.#evictOldest());
  }

  #runOf(node: SpanNode): LiveRun | undefined {
    const { group } = node
    const place = group.wanted && isFlat(node) ? this.#placeInRuns(node) : placeOf(node)
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
    const runs = assembleRuns({ nodes, logs, revision: 1, lacksSpans })
    if (runs.some((run) => run.spanId === source.spanId)) return 'run'
    return findRun(runs, source.spanId) === undefined ? undefined : 'nested'
  }

  #hasOpenSpans({ node, nested }: LiveRun): boolean {
    const { openCount, nodes } = node.group
    if (openCount === 0 || (!nested && node === nodes[0])) return openCount > 0
    return nodes.some((other) => other.open && this.#isBelow(other, node))
  }

  #isBelow(node: SpanNode, ancestor: SpanNode): boolean {
    return node === ancestor || passes(node.local.above, ancestor.local)
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

import type { Dialect } from '../../spans/dialect.ts'
import { SdkSourceSpan } from '../../spans/from-sdk-span.ts'
import { dialectOfSdkSpan } from '../../spans/recognise.ts'
import type { SourceLog, SourceSpan } from '../../spans/source-span.ts'
import { AgentRuns } from './agent-runs.ts'
import type { EndedRun } from './ended-run.ts'
import { HandingOver } from './handing-over.ts'
import { layOut } from './link-spans.ts'
import { Settling } from './settling.ts'
import { nearestAbove } from './readiness.ts'
import { LiveSpan } from './tree-node.ts'
import type { TreeNode } from './tree-node.ts'
import type { Eviction, TraceBufferOptions } from './trace-buffer-options.ts'
import { lower } from './trace-tree.ts'
import type { OpenTrace } from './open-trace.ts'
import { OpenTraces } from './open-traces.ts'
import { WaitingTraces } from './waiting-traces.ts'

/** Ordinary nodes of a trace by which children may find their parent. */
const MAX_PLACES = 10_000
/** A trace with more nodes is laid out in a later turn. */
const MAX_PLACES_IN_HOOK = 1000
/** Log records of a span that no dialect has recognised yet. */
const MAX_EARLY_LOGS = 1000
/** Open traces that are evicted at a time. One large attribute may take the place of thousands of them. */
const MOST_EVICTED = 100
/** Milliseconds of one turn of the event loop for runs that are due. */
const SLICE_MS = 10

/**
 * The recognised spans of traces whose runs are not final, in a process. The layout is always that of files: of an agent's part of the tree
 * if that is certainly all of its run, or else of the whole trace once nothing in it is open. What is open is known by the order of the
 * hooks, never by timestamps.
 */
export class TraceBuffer {
  readonly #options: TraceBufferOptions
  readonly #traces: OpenTraces
  readonly #handingOver: HandingOver
  readonly #waiting: WaitingTraces
  readonly #settling: Settling
  readonly #agents: AgentRuns
  /** The runs of agents whose span is ending. */
  readonly #ending = new Map<TreeNode, EndedRun>()
  /** Work that is done in slices. */
  #work: Generator<undefined, void> | undefined

  constructor(options: TraceBufferOptions) {
    this.#options = options
    this.#traces = new OpenTraces(options)
    this.#handingOver = new HandingOver(this.#traces, options)
    this.#waiting = new WaitingTraces(options)
    this.#agents = new AgentRuns({
      options,
      traces: this.#traces,
      handingOver: this.#handingOver,
      recognise: (node) => this.#askAgain(node),
      quiet: (trace) => this.#quiet(trace),
    })
    this.#settling = new Settling({
      traces: this.#traces,
      handingOver: this.#handingOver,
      waiting: this.#waiting,
      finish: (trace) => this.#finish(trace),
    })
  }

  /** Runs that have begun and are not final. */
  get openRuns(): number {
    return this.#traces.openRuns
  }

  /** Estimated bytes in memory. */
  get heldBytes(): number {
    return this.#traces.heldBytes
  }

  /** The next deadline, on the clock of `now`; `undefined` if there is none. */
  get nextDeadlineMs(): number | undefined {
    const { now, settleMs } = this.#options
    if (this.#work !== undefined || this.#traces.isOverBounds) return now()
    const [tooIdleMs, agentMs, traceMs] = [this.#traces.tooIdleMs, this.#agents.nextMs, this.#waiting.nextMs(settleMs)]
    if (tooIdleMs === undefined) return undefined
    return Math.min(tooIdleMs, agentMs ?? tooIdleMs, traceMs ?? tooIdleMs)
  }

  /** The node of a span of a held trace. */
  nodeOf(traceId: string, spanId: string): TreeNode | undefined {
    return this.#traces.get(traceId)?.byId.get(spanId)
  }

  /** Must be called when a dialect recognises an open span. Returns whether it is held. */
  hold(node: TreeNode, source: SourceSpan, dialect: Dialect): boolean {
    const nearest = nearestAbove(node, (above) => this.#askAgain(above))
    if (nearest?.isOver === true) {
      node.isOver = true
      node.isAsked = true
      this.#options.onLate()
      return false
    }
    const above = nearest?.span
    const span = new LiveSpan(node, source, dialect, { above })
    const { top } = span
    if (top !== span) {
      if (top.size >= this.#options.maxSpansPerRun) {
        top.isTruncated = true
        node.isAsked = true
        this.#options.onLate()
        return false
      }
      top.size += 1
    }
    const trace = this.#traces.of(source.traceId)
    this.#handingOver.began(dialect)
    trace.add(node, span)
    trace.open += 1
    this.#waiting.leave(trace)
    this.#traces.add(trace, span)
    if (above === undefined) {
      node.isSkipped = !trace.isWanted && !this.#options.countsNested && span.role === 'agent'
    }
    for (const log of node.logs ?? []) this.#traces.addLog(trace, span, log)
    node.logs = undefined
    this.#keepBounds()
    return true
  }

  /** Stores a log record in which an instrumentation wrote messages, with its span. */
  addLog(node: TreeNode, log: SourceLog): void {
    if (node.isOver) return
    const { span } = node
    const trace = span && this.#traces.get(log.traceId)
    if (span !== undefined && trace !== undefined) this.#traces.addLog(trace, span, log)
    else if (node.isOpen && (node.logs?.length ?? 0) < MAX_EARLY_LOGS) (node.logs ??= []).push(log)
    this.#keepBounds()
  }

  /**
   * Must be called when a recognised span is ending, from `onEnding`, or from `onEnd` if `onEnding` was not called. Returns the run whose
   * agent it is, if any, for scorers that run now.
   */
  end(node: TreeNode): EndedRun | undefined {
    const { span } = node
    const trace = span && this.#traces.get(span.span.traceId)
    if (span === undefined || trace === undefined || !span.isOpen) return this.#ending.get(node)
    const { saidItsKind } = span
    this.#traces.end(trace, span)
    node.role = span.role
    node.isOpen = false
    trace.open -= 1
    if (span.isWork && !node.isOver) trace.work += 1
    if (span.isAgent && !node.isOver) trace.candidates.add(node)
    const quiet: TreeNode[] = []
    lower(node, (each) => {
      if (each === node || trace.candidates.has(each)) quiet.push(each)
    })
    // Agents below it may have waited for its kind.
    if (!saidItsKind && node.isActive) quiet.push(...[...trace.candidates].filter((each) => !each.isActive))
    if (!trace.isFlat && !trace.isBeside) for (const each of quiet) this.#agents.decide(each, trace)
    if (node.isActive && trace.candidates.has(node)) this.#agents.waitForBelow(node, span, trace)
    if (trace.open === 0) this.#quiet(trace)
    const run = trace.runs.get(span)
    if (run !== undefined) this.#ending.set(node, run)
    this.#keepBounds()
    return run
  }

  /** Must be called when any span has ended, after `end` if it is recognised. Passes on the runs that are final. */
  ended(node: TreeNode, traceId: string): void {
    if (node.span === undefined && this.#traces.size > 0) {
      const trace = this.#traces.get(traceId)
      // A child may still name it by its ids.
      if (trace !== undefined && trace.byId.size < MAX_PLACES) trace.register(node)
    }
    node.isOpen = false
    if (node.span === undefined && node.below !== undefined) node.surrounding = node.describes()
    node.sdk = undefined
    this.#ending.delete(node)
    if (node.isCut) this.#options.onLate()
    if (node.isAwaited) {
      for (const trace of this.#waiting.around(node)) {
        if (trace.isDone || trace.open > 0 || this.#waiting.waitsAround(trace)) continue
        if (isFinished(trace)) this.#finish(trace)
        else this.#waiting.free(trace)
      }
    }
    if (this.#handingOver.hasDue) for (const _ of this.#handingOver.passOn());
  }

  /** Hands over what has waited long enough, as far as there is time, and the rest in later turns. */
  sweep(): void {
    const { now } = this.#options
    const endMs = now() + SLICE_MS
    this.#work ??= this.#due()
    do {
      if (this.#work.next().done !== true) continue
      this.#work = undefined
      return
    } while (now() < endMs)
  }

  /** Hands over, in steps, all that waits for further model calls by the clock. Runs with open spans keep waiting. */
  *flush(): Generator<undefined, void> {
    yield* this.#goOn()
    yield* this.#agents.layOutLarge()
    yield* this.#settling.settle(this.#waiting.take(Number.POSITIVE_INFINITY))
    // A sweep may have begun meanwhile.
    yield* this.#goOn()
  }

  /** Hands over, in steps, the runs of all agents that have ended, for example at shutdown. */
  *settleAgents(): Generator<undefined, void> {
    yield* this.#goOn()
    for (const trace of Array.from(this.#traces)) {
      if (trace.candidates.size + trace.large.size > 0) this.#handingOver.final(layOut(trace.roots), false)
      this.#agents.leave(trace)
      yield* this.#handingOver.passOn()
    }
  }

  /** Hands over, in steps, everything that has ended, whatever is open around it. Must be called after `settleAgents`. */
  *giveUpWaiting(): Generator<undefined, void> {
    yield* this.#settling.settle(Array.from(this.#traces), true)
    // A sweep may have begun meanwhile.
    yield* this.#goOn()
    yield* this.#handingOver.passOn()
  }

  /** Most hand-written spans get their attributes after their start. */
  #askAgain(node: TreeNode): void {
    const { sdk } = node
    if (sdk === undefined || node.isAsked) return
    const dialect = dialectOfSdkSpan(sdk)
    if (dialect !== undefined && dialect !== 'ordinary') {
      this.hold(node, new SdkSourceSpan(sdk, node.startOrder), dialect)
    }
  }

  /** Must be called when no recognised span of an open trace is open. */
  #quiet(trace: OpenTrace): void {
    if (trace.large.size > 0) return
    if (trace.isFlat) {
      this.#waiting.pause(trace)
      if (trace.candidates.size === 0) return
      // Once the last graph has ended, all flat spans can be placed.
      const flat = Array.from(this.#traces).filter((each) => each.isFlat)
      if (flat.every(({ open }) => open === 0)) for (const _ of this.#settling.settleTogether(flat));
      return
    }
    if (trace.candidates.size > 0) {
      if (trace.byId.size > MAX_PLACES_IN_HOOK) {
        this.#waiting.free(trace)
        return
      }
      this.#handingOver.final(layOut(trace.roots), false)
      this.#agents.leave(trace)
    }
    // While a span around it is open, more spans may come.
    if (this.#waiting.waitsAround(trace)) {
      this.#traces.forgetFinal(trace)
      return
    }
    if (isFinished(trace)) this.#finish(trace)
    else this.#waiting.pause(trace)
  }

  *#goOn(): Generator<undefined, void> {
    const work = this.#work
    this.#work = undefined
    if (work !== undefined) yield* work
  }

  /** Does what is due by the clock, in steps. */
  *#due(): Generator<undefined, void> {
    const { now, settleMs } = this.#options
    this.#keepBounds()
    const { oldest, tooIdleMs = Number.POSITIVE_INFINITY } = this.#traces
    if (oldest !== undefined && tooIdleMs <= now()) this.#evict(oldest, 'idle')
    const beforeMs = now() - settleMs
    yield* this.#agents.expire(beforeMs)
    yield* this.#agents.layOutLarge()
    yield* this.#settling.settle(this.#waiting.take(beforeMs))
    yield* this.#handingOver.passOn()
  }

  #finish(trace: OpenTrace): void {
    this.#waiting.leave(trace)
    this.#agents.leave(trace)
    this.#traces.finish(trace)
  }

  /** Evicts the open traces in which nothing has happened for longest while there are too many open runs, or they hold too much. The next sweep evicts what is left. */
  #keepBounds(): void {
    for (let left = MOST_EVICTED; this.#traces.isOverBounds; left -= 1) {
      if (left === 0) return this.#options.onWaiting()
      if (this.#traces.oldest !== undefined) this.#evict(this.#traces.oldest, 'bounds')
    }
  }

  /** Hands over what has ended of an open trace, and gives up the rest. */
  #evict(trace: OpenTrace, why: Eviction): void {
    if (trace.candidates.size + trace.large.size > 0) this.#handingOver.final(layOut(trace.roots), false)
    this.#handingOver.evict(trace, why)
    this.#finish(trace)
  }
}

/** Whether all that an open trace has done is in final runs. An agent that has ended without work may still get some. */
function isFinished({ work, runs }: OpenTrace): boolean {
  return work <= 0 && runs.size > 0
}

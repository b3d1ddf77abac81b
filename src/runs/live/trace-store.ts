import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import { AgentSpans, lookAlsoIn } from './agent-spans.ts'
import { AgentlessRuns } from './agentless-runs.ts'
import { bytesOfMoreLogs, takeLog } from './content-bytes.ts'
import type { Size } from './content-bytes.ts'
import { Deadlines } from './deadlines.ts'
import { DuplicateRuns } from './duplicate-runs.ts'
import { evictTooOld, isOverBounds, keepBounds } from './eviction.ts'
import type { EvictionParts } from './eviction.ts'
import { endedFlatSpans, FlatGroups, hasOpenGraph, isPlacedByAll } from './flat-groups.ts'
import { LiveRun } from './live-run.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'
import type { Moment } from './moment.ts'
import { markDue, Settlement } from './settlement.ts'
import { SpanGroups } from './span-groups.ts'
import { SpanIntake } from './span-intake.ts'
import { SpanLinks } from './span-links.ts'
import type { ParentSpan } from './span-links.ts'
import { UndecidedRuns } from './undecided-runs.ts'
import type { TraceStoreOptions } from './trace-store-options.ts'
import { leaveUpwards, tellUpwards } from './upwards.ts'

/**
 * The recognised spans of runs that are not closed, and which of them are open, by the order of the hooks and never by timestamps. Runs are
 * laid out like those of files, when somebody reads one.
 *
 * Spans that no dialect recognises only leave a small record of their place.
 */
export class TraceStore {
  readonly #options: TraceStoreOptions
  readonly #links = new SpanLinks()
  readonly #groups = new SpanGroups(this.#links, (group) => this.#agentless.removed(group))
  readonly #deadlines: Deadlines
  readonly #duplicates: DuplicateRuns
  readonly #intake: SpanIntake
  readonly #agentless: AgentlessRuns
  readonly #settlement: Settlement
  readonly #flat: FlatGroups
  readonly #undecided: UndecidedRuns
  readonly #eviction: EvictionParts
  readonly #started = (): number => this.#intake.started

  constructor(options: TraceStoreOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.settleMs, options.now)
    this.#duplicates = new DuplicateRuns(options.maxContentBytes / 8)
    this.#intake = new SpanIntake(this.#links, this.#groups, options, {
      onBegun: () => this.#keepBounds(),
      onTwoForms: (span) => this.#duplicates.began(span),
      onFlat: (group) => this.#flat.note(group),
    })
    this.#agentless = new AgentlessRuns({
      groups: this.#groups,
      links: this.#links,
      settleMs: options.settleMs,
      now: options.now,
      onSettled: (run) => options.onSettled(run, true),
      isSecondRecord: (plan) => this.#duplicates.isSecondRecord(plan),
      onDuplicate: options.onDuplicate,
      isHeld: (group, moment) => this.#flat.mayBeTaken(group, moment),
      close: (group) => this.#close(group),
    })
    this.#flat = new FlatGroups({
      groups: this.#groups,
      agentless: this.#agentless,
      maxIdleMs: options.settleMs * MAX_IDLE_FACTOR,
      now: options.now,
    })
    this.#settlement = new Settlement({
      deadlines: this.#deadlines,
      rescore: options.rescore,
      onSettled: options.onSettled,
      settled: (agent) => this.#duplicates.settled(agent),
      close: (group) => this.#close(group),
      forget: (agent) => this.#forget(agent),
    })
    this.#undecided = new UndecidedRuns({
      flat: this.#flat,
      settlement: this.#settlement,
      deadlines: this.#deadlines,
      now: options.now,
      runOf: (agent, moment) => this.#runOf(agent, moment),
      finish: (group) => this.#finish(group),
    })
    this.#eviction = {
      groups: this.#groups,
      settlement: this.#settlement,
      options,
      close: (group) => this.#close(group),
    }
  }

  /** Runs that have begun and are not closed. */
  get openRuns(): number {
    let open = this.#settlement.waiting
    for (const group of this.#groups) if (!group.hasRun) open += 1
    return open
  }

  /** Estimated bytes in memory. */
  get heldBytes(): number {
    return this.#groups.heldBytes
  }

  /** The next deadline, on the clock of `now`; `undefined` if there is none. */
  get nextDeadlineMs(): number | undefined {
    if (isOverBounds(this.#eviction)) return this.#options.now()
    const { oldest } = this.#groups
    const oldestMs = oldest && oldest.sinceMs + this.#options.maxRunAgeMs
    const all = [this.#deadlines.nextMs, this.#undecided.nextMs, this.#agentless.nextMs, oldestMs]
    return all.reduce((next, atMs) => (next === undefined || (atMs !== undefined && atMs < next) ? atMs : next))
  }

  /** Must be called when a span starts, with the active span of its parent context. Returns whether it may be in a run. */
  start(span: SdkSpanLike, parent: ParentSpan | undefined): boolean {
    return this.#intake.start(span, parent)
  }

  /** The record of a recognised span, whether recognised at its start or by attributes written since. */
  liveSpanOf(span: SdkSpanLike): LiveSpan | undefined {
    return this.#intake.liveSpanOf(span)
  }

  /**
   * Must be called when a recognised span is ending, from `onEnding`, or from `onEnd` if `onEnding` was not called. Returns the run whose
   * agent it is, if any, for scorers that run now; the others run when it is settled.
   */
  ending(span: LiveSpan): LiveRun | undefined {
    if (!span.isOpen) return span.run
    const { group } = span
    const size = span.end()
    this.#links.closed(span.sdkSpan)
    if (span.dialect.formOfTwo !== undefined) this.#duplicates.ended(span)
    if (group.isFlat) this.#flat.note(group)
    group.openCount -= 1
    group.version += 1
    for (const reader of group.readBy) reader.version += 1
    if (isCall(span) || span.role === 'agent') group.hasWork = true
    const isAgentsCall = span.role === 'model' && group.wanted && span.isInRun
    this.#countBytes(span, size)
    if (isAgentsCall) this.#duplicates.agentCalled(span, size.heldBytes, this.#groups.size)
    tellUpwards(span)
    leaveUpwards(span, markDue)
    if (group.closed) return undefined
    if (!span.saidItsKind || span.role === 'agent' || span.role === 'entry') this.#undecided.ended(span)
    if (span.role !== 'agent' && span.role !== 'entry') return undefined
    if (this.#undecided.takes(span)) return undefined
    span.run = this.#runOf(span)
    return span.run
  }

  /** Must be called after `ending`, when a recognised span has ended. Closes what waited for it. */
  ended(span: LiveSpan): void {
    if (span.closed) this.#options.onLate()
    else this.#advance(span)
    const local = this.#links.get(span.sdkSpan)
    if (local === undefined) return
    if (!span.isKept) this.#links.ended(local)
    this.#agentless.spanEnded(local)
  }

  /** Must be called when any other span has ended. Returns whether something became due. */
  ordinaryEnded(span: SdkSpanLike): boolean {
    const local = this.#links.get(span)
    if (local === undefined) return false
    // It was recognised, and its run was closed while it was open.
    if (local.isOver && local.open) this.#options.onLate()
    this.#links.ended(local)
    return this.#agentless.spanEnded(local)
  }

  /** Stores a log record in which an instrumentation wrote messages, with its span. */
  addLog(log: SourceLog): void {
    const span = this.#links.find(log, log.timeMs / 1000)?.recognised
    if (span?.isKept !== true || !span.group.wanted || span.closed) return
    const { log: taken, heldBytes, ...size } = takeLog(log)
    const contentBytes = size.contentBytes + bytesOfMoreLogs(span.addLog(taken))
    this.#groups.addLog(span, contentBytes, heldBytes)
    span.group.version += 1
    this.#keepBounds()
  }

  /** Closes what has waited long enough. */
  sweep(): void {
    this.#deadlines.sweep()
    this.#undecided.sweep()
    this.#agentless.sweep()
    this.#keepBounds()
    evictTooOld(this.#eviction)
  }

  /** Closes, in steps, what waits for its turn, or as an agentless model call for further ones by the clock, for example at a flush. */
  *settleAgentless(): Generator<undefined, void> {
    while (this.#undecided.nextMs !== undefined && this.#undecided.decideWaiting()) yield
    yield* this.#agentless.settleAll()
  }

  /** Closes, in steps, agents' runs that wait for spans or for the clock, for example at shutdown. Runs with an open agent stay. */
  *settleAgents(): Generator<undefined, void> {
    this.#flat.release()
    while (this.#undecided.decideWaiting()) yield
    yield
    yield* this.#deadlines.sweepAll()
    // A run may have no deadline if the hook that should have settled it failed on content of a span.
    for (const group of Array.from(this.#groups)) {
      this.#settlement.settleAllOf(group)
      yield
    }
  }

  /** Closes, in steps, all agentless model calls, whatever is open around them. Must be called after `settleAgents`. */
  giveUpWaiting(): Generator<undefined, void> {
    return this.#agentless.giveUpWaiting()
  }

  #countBytes(span: LiveSpan, { contentBytes, heldBytes }: Size): void {
    const { group } = span
    if (!group.wanted || !span.isKept || group.closed) return
    this.#groups.add(group, contentBytes, 0)
    this.#groups.setOwnBytes(span, heldBytes)
    span.contentBytes += contentBytes
    span.subtree.contentBytes += contentBytes
    this.#keepBounds()
  }

  #runOf(span: LiveSpan, moment?: Moment<LiveSpan>): LiveRun | undefined {
    const place = span.group.wanted && isPlacedByAll(span) ? this.#flat.place(span) : span.placement(moment)
    const { group } = span
    if ((place !== 'run' && place !== 'nested') || group.closed) return undefined
    if (place === 'nested' && !this.#options.countsNested) return undefined
    if (place === 'run') group.hasRun = true
    if (this.#duplicates.isSecondForm(span)) {
      group.hasDuplicate = true
      this.#options.onDuplicate()
      return undefined
    }
    const older = this.#duplicates.olderFormOf(span)
    if (older !== undefined) lookAlsoIn(span, older)
    const { traceId, wanted } = group
    const spans = new AgentSpans(span, place === 'nested', this.#started)
    return new LiveRun({ span: span.sdkSpan, traceId, kind: place, wanted }, spans)
  }

  /** Called when a recognised span has ended. Settles what waited for it, and closes its group if nothing is open. */
  #advance(span: LiveSpan): void {
    const { group, run } = span
    if (run !== undefined) {
      if (run.hasOpenSpans) this.#settlement.wait(span, run)
      else this.#settlement.settle(span, run)
    }
    this.#settlement.settleDue(group)
    for (const reader of group.readBy) this.#settlement.settleDue(reader)
    if (group.openCount > 0 || group.closed) return
    if (group.isFlat) this.#undecided.flatEnded(group)
    this.#finish(group)
  }

  /** Drops the spans of a run that is finished inside a group that continues (a workflow, a loop). */
  #forget(agent: LiveSpan): void {
    const { group } = agent
    // Spans beside a graph belong to its run, unless another graph is active.
    const isBeside = agent.isFlat && !hasOpenGraph(group)
    if (isBeside) this.#settlement.settleDue(group)
    agent.leaveAbove()
    this.#groups.forget(group, agent.withAllBelow())
    if (isBeside) this.#groups.forget(group, endedFlatSpans(group))
  }

  /** Called when all spans of a group have ended. */
  #finish(group: LiveGroup): void {
    // One of its runs may wait for spans of another group.
    for (const { run } of group.waiting) if (run?.hasOpenSpans === true) return
    if (group.undecided.length > 0) return
    // Spans of agents' runs were already dropped. The remaining calls were made beside them.
    if (group.wanted && !group.hasDuplicate && [...group.spans].some(isCall)) group.hasRun = false
    if (group.hasRun || (!group.hasWork && !this.#flat.isHeld(group))) this.#close(group)
    else this.#agentless.wait(group)
  }

  #keepBounds(): void {
    keepBounds(this.#eviction)
  }

  #close(group: LiveGroup): void {
    this.#settlement.settleAllOf(group)
    if (group.closed) return
    this.#duplicates.closed(group)
    this.#flat.closed(group)
    this.#groups.close(group)
  }
}

/** Multiplied with `settleMs`: how long a group may be idle while others wait for it, because its tools may be running. */
const MAX_IDLE_FACTOR = 15

function isCall({ role }: LiveSpan): boolean {
  return role === 'model' || role === 'tool'
}

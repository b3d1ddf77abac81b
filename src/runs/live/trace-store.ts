import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { AgentlessRuns } from './agentless-runs.ts'
import { bytesOfLog, bytesOfSpan } from './content-bytes.ts'
import { Deadlines } from './deadlines.ts'
import { LiveRun } from './live-run.ts'
import type { LiveRunSource } from './live-run.ts'
import { LiveSpan } from './live-span.ts'
import { planLive } from './plan-live.ts'
import { RunLayouts } from './run-layouts.ts'
import { Settlement } from './settlement.ts'
import type { SpanGroup } from './span-group.ts'
import { SpanGroups } from './span-groups.ts'
import { SpanIntake } from './span-intake.ts'
import { SpanLinks } from './span-links.ts'
import type { ParentSpan } from './span-links.ts'
import { TwoForms } from './two-forms.ts'
import type { TraceStoreOptions } from './trace-store-options.ts'
import { groupsOf } from './waiting-parts.ts'

/**
 * The recognised spans of runs that are not closed yet, and what of them is open: by the order of the hooks, never by
 * timestamps. Runs are put together by the same layout as those of files, when somebody asks for one.
 *
 * Spans that no dialect recognises leave nothing here but a small record of where they are.
 */
export class TraceStore {
  readonly #options: TraceStoreOptions
  readonly #links = new SpanLinks()
  readonly #groups = new SpanGroups()
  readonly #deadlines: Deadlines
  readonly #twoForms = new TwoForms()
  readonly #intake: SpanIntake
  readonly #layouts: RunLayouts
  readonly #agentless: AgentlessRuns
  readonly #settlement: Settlement

  constructor(options: TraceStoreOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.settleMs, options.now)
    this.#intake = new SpanIntake(this.#links, this.#groups, options, (root) => this.#begun(root))
    this.#layouts = new RunLayouts(() => this.#intake.started)
    this.#agentless = new AgentlessRuns({
      groups: this.#groups,
      settleMs: options.settleMs,
      now: options.now,
      onSettled: (run) => options.onSettled(run, true),
      onDuplicate: options.onDuplicate,
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

  /** Bytes that are held, estimated. */
  get heldBytes(): number {
    return this.#groups.heldBytes
  }

  /** When something is next due, on the clock of `now`; `undefined` where nothing is waited for. */
  get nextDeadlineMs(): number | undefined {
    const { oldest } = this.#groups
    const nextMs = Math.min(
      this.#deadlines.nextMs ?? Number.POSITIVE_INFINITY,
      this.#agentless.nextMs ?? Number.POSITIVE_INFINITY,
      oldest === undefined ? Number.POSITIVE_INFINITY : oldest.sinceMs + this.#options.maxRunAgeMs,
    )
    return nextMs === Number.POSITIVE_INFINITY ? undefined : nextMs
  }

  /** To be called when a span starts, with the span that is active in its parent context. */
  start(span: SdkSpanLike, parent: ParentSpan | undefined): void {
    this.#intake.start(span, parent)
  }

  /** The record of a span that a dialect recognises: at its start, or by what was written on it since. */
  liveSpanOf(span: SdkSpanLike): LiveSpan | undefined {
    return this.#intake.liveSpanOf(span)
  }

  /**
   * To be called when a recognised span is ending, from `onEnding` or, where that was not called for it, from `onEnd`.
   * Gives the run whose agent it is, if it is one: what can be scored is scored now, the rest when it is settled.
   */
  ending(span: LiveSpan): LiveRun | undefined {
    if (!span.isOpen) return span.run
    const { group } = span
    span.end()
    group.openCount -= 1
    group.version += 1
    for (const reader of group.readBy) reader.version += 1
    if (span.role === 'model' || span.role === 'tool' || span.role === 'agent') group.hasWork = true
    if (span.role === 'model') this.#noteCall(span)
    this.#countBytes(span)
    span.tellAbove()
    span.leave()
    if (group.closed) return undefined
    if (group.undecided.length > 0 && (!span.saidItsKind || span.role === 'agent' || span.role === 'entry'))
      this.#decideUndecided(group)
    if (span.role !== 'agent' && span.role !== 'entry') return undefined
    if (this.#isUndecided(span)) {
      group.undecided.push(span)
      return undefined
    }
    span.run = this.#runOf(span)
    return span.run
  }

  /** Agents that ended before it was known what is around them: their runs are found now, from spans that have gone on. */
  #decideUndecided(group: SpanGroup): void {
    const decided = group.undecided.filter((span) => !this.#isUndecided(span))
    if (decided.length === 0) return
    group.undecided = group.undecided.filter((span) => !decided.includes(span))
    for (const span of decided) {
      span.run = this.#runOf(span)
      if (span.run !== undefined) this.#settlement.wait(span.run)
    }
  }

  #isUndecided(span: LiveSpan): boolean {
    if (span.placement === 'not-yet') return true
    // A graph that has ended may turn out to be part of another one, which began before it and is open.
    return span.role === 'agent' && span.isFlat && span.group.hasOpenGraph
  }

  /** To be called when a recognised span has ended, after `ending`: closes what waited for it. */
  ended(span: LiveSpan): void {
    if (span.closed) this.#options.onLate()
    else this.#advance(span)
    this.#agentless.spanEnded(span.local)
  }

  /** To be called when any other span has ended. Whether something became due with it. */
  ordinaryEnded(span: SdkSpanLike): boolean {
    const local = this.#links.get(span)
    if (local === undefined) return false
    // It was recognised, and its run was closed while it was open.
    if (local.isOver && local.open) this.#options.onLate()
    local.open = false
    this.#links.shorten(local)
    return this.#agentless.spanEnded(local)
  }

  /** Keeps a log record in which an instrumentation wrote messages, with the span that it belongs to. */
  addLog(log: SourceLog): void {
    const span = this.#links.find(log, log.timeMs / 1000)?.recognised
    if (span?.isKept !== true || !span.group.wanted || span.closed) return
    span.addLog(log)
    const { contentBytes, heldBytes } = bytesOfLog(log)
    span.contentBytes += contentBytes
    span.heldBytes += heldBytes
    this.#groups.add(span.group, contentBytes, heldBytes)
    span.group.version += 1
    this.#keepBounds()
  }

  /** Closes what has waited long enough. */
  sweep(): void {
    this.#deadlines.sweep()
    this.#agentless.sweep()
    this.#keepBounds()
  }

  /** Closes the model calls without an agent that wait for further ones by the clock, as at a flush. */
  settleAgentless(): void {
    this.#agentless.settleAll()
  }

  /** Closes what waits for spans or for the clock, as at a shutdown. Runs whose agent is open stay. */
  settleAll(): void {
    this.#deadlines.sweepAll()
    this.#agentless.giveUpWaiting()
  }

  #noteCall(span: LiveSpan): void {
    this.#twoForms.answered(span)
    if (span.group.wanted && span.isInRun) this.#agentless.agentCalled(span)
  }

  #countBytes(span: LiveSpan): void {
    const { group } = span
    if (!group.wanted || !span.isKept || group.closed) return
    const { contentBytes, heldBytes } = bytesOfSpan(span.sdkSpan)
    this.#groups.add(group, contentBytes, heldBytes - span.heldBytes)
    span.contentBytes += contentBytes
    span.subtree.contentBytes += contentBytes
    span.heldBytes = heldBytes
    this.#keepBounds()
  }

  #runOf(span: LiveSpan): LiveRun | undefined {
    const { group } = span
    const place = group.wanted && span.isFlat ? this.#placeInRuns(span) : span.placement
    if ((place !== 'run' && place !== 'nested') || group.closed) return undefined
    if (place === 'nested' && !this.#options.countsNested) return undefined
    if (place === 'run') group.hasRun = true
    if (this.#twoForms.isSecondRecord(span)) {
      this.#options.onDuplicate()
      return undefined
    }
    const older = this.#twoForms.olderFormOf(span)
    if (older !== undefined) this.#layouts.lookAlsoIn(span, older)
    return new LiveRun(span, place, this.#layouts)
  }

  /** Where parents do not tell, the runs that the spans make up by now do. */
  #placeInRuns(span: LiveSpan): 'run' | 'nested' | 'part' {
    this.#takeScattered(span)
    const plan: RunPlan | undefined = RunLayouts.ofGroup(span)
    return plan === undefined ? 'part' : plan.parent === undefined ? 'run' : 'nested'
  }

  /** What a graph's library wrote in traces of its own, if this is the only graph at work. */
  #takeScattered({ group }: LiveSpan): void {
    const scattered = this.#agentless.scattered
    if (scattered.length === 0) return
    for (const other of this.#groups) if (other !== group && other.hasOpenGraph) return
    const plans = planLive([...group.spans, ...scattered.flatMap(({ spans }) => spans)], false)
    const own = plans.find((plan) => plan.root instanceof LiveSpan && plan.root.group === group)
    const taken = own === undefined ? undefined : groupsOf(own)
    for (const other of scattered) {
      if (taken?.has(other) !== true) continue
      this.#agentless.drop([other])
      this.#groups.merge(other, group)
    }
  }

  /** A recognised span has ended: what waited for it is settled, and a group in which nothing is open is closed. */
  #advance(span: LiveSpan): void {
    const { group, run } = span
    if (run !== undefined) {
      if (run.hasOpenSpans) this.#settlement.wait(run)
      else this.#settlement.settle(group, run)
    }
    this.#settlement.settleDue(group)
    for (const reader of group.readBy) this.#settlement.settleDue(reader)
    if (group.openCount === 0 && !group.closed) this.#finish(group)
  }

  /** A run within a group that goes on (a workflow, a loop) is over: its spans are let go of. */
  #forget(agent: LiveSpan): void {
    const { group } = agent
    // What is beside a graph is of its run, unless another one is at work.
    const isBeside = agent.isFlat && !group.hasOpenGraph
    if (isBeside) this.#settlement.settleDue(group)
    agent.above?.spansBelow?.delete(agent)
    this.#groups.forget(group, (span) => span.isWithin(agent) || (isBeside && !span.isOpen && span.isFlat))
  }

  /** All its spans have ended. */
  #finish(group: SpanGroup): void {
    // A run of it may wait for spans of another group.
    if (group.waiting.some((run) => run.hasOpenSpans)) return
    if (group.hasRun || !group.hasWork) this.#close(group)
    else this.#agentless.wait(group)
  }

  #begun(root: LiveSpan): void {
    this.#twoForms.began(root)
    this.#keepBounds()
  }

  /** Gives up the oldest groups while there are too many, while they hold too much, and those that are too old. */
  #keepBounds(): void {
    const { maxOpenRuns, maxContentBytes, maxRunAgeMs, now } = this.#options
    while (this.#groups.size > maxOpenRuns || this.#groups.heldBytes > maxContentBytes) {
      if (!this.#evictOldest()) return
    }
    const { oldest } = this.#groups
    if (oldest !== undefined && now() - oldest.sinceMs >= maxRunAgeMs) this.#evictOldest()
  }

  #evictOldest(): boolean {
    const { oldest } = this.#groups
    if (oldest === undefined) return false
    const [agent] = oldest.spans
    if (oldest.waiting.length > 0) this.#settlement.settleAllOf(oldest)
    else if (agent !== undefined && !oldest.hasRun) {
      this.#options.onEvicted(new LiveRun(agent, 'run', NO_SPANS))
    }
    if (!oldest.closed) this.#close(oldest)
    return true
  }

  #close(group: SpanGroup): void {
    this.#settlement.settleAllOf(group)
    if (group.closed) return
    this.#twoForms.closed(group)
    this.#groups.close(group)
  }
}

/** Of a run that was given up nothing is known. */
const NO_SPANS: LiveRunSource = { plan: () => undefined, hasOpenSpans: () => false, freeze: () => undefined }

import { Emitter } from '../emit/emitter.ts'
import { ProviderSink } from '../emit/provider-sink.ts'
import { ScoreMetrics } from '../emit/score-metrics.ts'
import type { LiveRun } from '../runs/live/live-run.ts'
import { TraceStore } from '../runs/live/trace-store.ts'
import type { ParentSpan } from '../runs/live/span-links.ts'
import { Budget } from '../sampling/budget.ts'
import { inSlices } from '../scoring/in-slices.ts'
import { runForeignNow } from '../scoring/run-foreign.ts'
import type { SourceLog } from '../spans/source-span.ts'
import { formatLedger, Ledger } from '../scoring/ledger.ts'
import type { LedgerSnapshot } from '../scoring/ledger.ts'
import { atExit, reportOldNode } from './node-process.ts'
import { SetupNotices } from './notices/setup-notices.ts'
import { Flushing } from './deliver/flushing.ts'
import { HeldSpans } from './deliver/held-spans.ts'
import type { ResolvedOptions } from './config/options.ts'
import { Providers } from './attach/tracer-providers.ts'
import { LargeRuns } from './large-runs.ts'
import { isLateSpan, OwnWork } from './run/own-work.ts'
import { Reporter } from './run/reporter.ts'
import { RunScoring } from './run/run-scoring.ts'
import { isTooLarge } from './run/admission.ts'
import { ScoreWriter } from './deliver/score-writer.ts'
import type { ScoredRun } from './run/scored-run.ts'
import { Scheduler } from './scheduler.ts'
import { ScoringJobs } from './run/scoring-jobs.ts'
import type { EndedSpan, OpenSpan, SpanProcessorLike } from './sdk-types.ts'
import { isOnlyProcessor, otherProcessorsOf } from './attach/other-processors.ts'
import { viewOf } from './deliver/span-view.ts'

const now = (): number => performance.now()

/** Connects the parts of one scoring processor: spans go in, scores come out. */
export class ScoringPipeline {
  readonly #options: ResolvedOptions
  readonly #store: TraceStore
  readonly #reporter = new Reporter()
  readonly #ledger: Ledger
  readonly #metrics: ScoreMetrics
  readonly #providers: Providers
  readonly #held: HeldSpans
  readonly #runs: RunScoring
  readonly #flushing: Flushing
  readonly #notices: SetupNotices
  readonly #scheduler: Scheduler
  readonly #large = new LargeRuns(now, (live, isRead) => this.#lookAt(live, isRead))
  readonly #forgetExit: () => void
  readonly #ownWork = new OwnWork()

  /** @param self the processor of this pipeline, which it excludes when it flushes the provider's other processors */
  constructor(options: ResolvedOptions, self: SpanProcessorLike) {
    this.#options = options
    const reporter = this.#reporter
    reportOldNode(process.version, reporter)
    const scheduler = new Scheduler(now, (error) => reporter.threw('A deadline', error))
    this.#scheduler = scheduler
    this.#notices = new SetupNotices({
      scorers: options.scorers,
      hasRuns: () => this.ledger().runs.seen > 0,
      lacksExport: () => wantsExport(options) && isOnlyProcessor(options.tracerProvider, self),
      reporter,
      scheduler,
    })
    const budget = new Budget(options.budget, now)
    this.#ledger = new Ledger(options.scorers.map(({ id }) => id))
    this.#providers = new Providers(options)
    this.#held = new HeldSpans({
      maxHeld: options.maxHeld,
      holdMs: options.holdMs,
      scheduler,
      now,
      release: (span, scores) => this.#toNext(span, { scores, stripContent: options.stripContent }),
    })
    const gauges = {
      queueSize: () => jobs.queued,
      openRuns: () => this.#store.openRuns,
      heldSpans: () => this.#held.size,
      budgetUsedRatio: () => budget.usedRatio(),
    }
    this.#metrics = new ScoreMetrics({
      gauges,
      meterProvider: () => this.#providers.meterProvider(),
      guard: (what, run) => {
        const result = runForeignNow(run)
        if (result.ok) return result.value
        reporter.threw(what, result.error)
        return undefined
      },
      later: (run, ms) => void scheduler.after(ms, run),
    })
    const sink = new ProviderSink(this.#providers, (what, error) => reporter.threw(what, error))
    const writer = new ScoreWriter({
      options,
      ledger: this.#ledger,
      reporter,
      emitter: new Emitter({ options: options.emit, sink, metrics: this.#metrics, nowMs: () => Date.now() }),
      providers: this.#providers,
    })
    const jobs = new ScoringJobs({ options, budget, writer, reporter, scheduler, now })
    this.#runs = new RunScoring({
      options,
      budget,
      ledger: this.#ledger,
      metrics: this.#metrics,
      writer,
      jobs,
      reporter,
    })
    this.#store = new TraceStore({
      ...options,
      sinceMs: Date.now(),
      now,
      countsNested: this.#runs.countsNested,
      isWanted: (traceId) => this.#runs.isWanted(traceId),
      onSettled: (live, isFinal) => this.#settled(live, isFinal),
      onEvicted: (live) => this.#evicted(live),
      onDuplicate: () => this.#ledger.runDuplicate(),
      onLate: () => this.#ledger.spanLate(),
    })
    this.#flushing = new Flushing({
      options,
      jobs,
      held: this.#held,
      metrics: this.#metrics,
      sink,
      providers: this.#providers,
      reporter,
      store: this.#store,
      large: this.#large,
      otherProcessors: () => otherProcessorsOf(options.tracerProvider, self),
    })
    scheduler.watch(this.#store)
    this.#forgetExit = atExit({ release: () => this.#releaseAtExit(), exited: () => this.#exited() })
  }

  /** Whether to drop a span that starts because it belongs to spanscore's own work: a judge call, or what a callback started. */
  drops(span: OpenSpan): boolean {
    return this.#ownWork.drops(span)
  }

  /** Whether a span was dropped when it started. Its end is then ignored too. */
  hasDropped(span: object): boolean {
    return this.#ownWork.hasDropped(span)
  }

  /** Called when a span starts. */
  started(span: OpenSpan, parent: ParentSpan | undefined): void {
    if (isLateSpan(span)) return
    if (this.#store.start(span, parent)) this.#scheduler.changed(this.#store)
  }

  /** Called while a span is ending and can still be written. */
  ending(span: OpenSpan): void {
    const recognised = this.#store.liveSpanOf(span)
    const live = recognised && this.#store.ending(recognised)
    if (live !== undefined) this.#runs.runEnded(live, span)
  }

  /** Called when a span has ended. Returns the run whose agent it is, so that the span can be held or handed on. */
  ended(span: EndedSpan): ScoredRun | undefined {
    const recognised = this.#store.liveSpanOf(span)
    if (recognised === undefined) {
      if (this.#store.ordinaryEnded(span)) this.#scheduler.changed(this.#store)
      this.#notices.ordinarySpanEnded(span)
      return undefined
    }
    if (recognised.role === 'step') this.#notices.stepEnded(span)
    // For SDKs and wrappers that do not call `onEnding`, such as SDK 1.30 and before 2.3.
    const live = this.#store.ending(recognised)
    const scored = live && this.#runs.runEnded(live, 'ended')
    this.#store.ended(recognised)
    this.#scheduler.changed(this.#store)
    return scored
  }

  /** Called when a span has ended after the shutdown. */
  endedAfterShutdown(span: EndedSpan): void {
    // A run that was open at the shutdown was scored as it was.
    if (this.#store.liveSpanOf(span) === undefined) this.#notices.endedAfterShutdown(span)
  }

  /** Hands an ended span on to `next`, now or after holding it for its scores. */
  handOn(span: EndedSpan, scored: ScoredRun | undefined): void {
    const { maxHeld, next, stripContent } = this.#options
    if (next !== undefined && maxHeld > 0 && scored?.isAwaited === true) {
      this.#reporter.guard('Holding a span', () => scored.outlet.hold(this.#held.hold(span)))
      return
    }
    const scores = scored?.outlet.handOn()
    if (next === undefined) return
    if (stripContent || scores !== undefined) this.#toNext(span, { ...(scores && { scores }), stripContent })
    else this.#toNextAsIs(span, next)
  }

  async flush(): Promise<void> {
    await this.#reporter.settle('forceFlush', () => this.#flushing.flush())
  }

  /** Ends scoring. Small runs are finished before the first `await`. */
  async stop(): Promise<void> {
    await this.#reporter.settle('shutdown', () => this.#flushing.drain())
    this.#notices.conclude()
    this.#forgetExit()
    this.#reporter.guard('shutdown', () => this.#metrics.stop())
    this.#scheduler.stop()
    this.#reporter.info(formatLedger(this.ledger()))
  }

  async shutdownNext(): Promise<void> {
    await this.#reporter.settle('shutdown', () => this.#flushing.shutdownNext())
  }

  /** Takes a log record in which an instrumentation wrote messages. */
  takeLog(log: SourceLog): void {
    this.#store.addLog(log)
  }

  ledger(): LedgerSnapshot {
    return this.#ledger.snapshot(this.#store.openRuns)
  }

  /** Reports errors in hooks, each once. Nothing is thrown into the application. */
  get reporter(): Reporter {
    return this.#reporter
  }

  #settled(live: LiveRun, isFinal: boolean): void {
    if (isFinal && !live.nested) this.#ledger.runClosed()
    this.#reporter.guard('Scoring a run', () => this.#runs.runSettled(live, isFinal))
    if (!isFinal) return
    if (live.effortBytes <= this.#options.maxSyncBytes) this.#lookAt(live, true)
    else this.#large.add(live)
  }

  /** Counts a settled run, scored or not, and passes it to the notices. */
  #lookAt(live: LiveRun, mayRead: boolean): void {
    const isRead = mayRead && live.wanted && !isTooLarge(live)
    const run = isRead ? this.#reporter.guard('Putting a run together', () => live.current()) : undefined
    if (run !== undefined) this.#reporter.guard('Scoring a run', () => this.#runs.runRead(live))
    this.#reporter.guard('Looking at a run', () => this.#notices.runSettled(run))
    if (!live.nested) this.#countRun('closed', run?.agent.name)
  }

  #countRun(outcome: 'closed' | 'evicted', agentName: string | undefined): void {
    if (this.#options.emit.metrics) this.#metrics.countRun(outcome, agentName)
  }

  #evicted(live: LiveRun): void {
    this.#ledger.runEvicted()
    // If the attributes of a span could not be read, and this threw, the run would never be evicted.
    const name = this.#reporter.guard('Giving up a run', () => live.span.attributes['gen_ai.agent.name'])
    this.#countRun('evicted', typeof name === 'string' ? name : undefined)
    this.#reporter.guard('Giving up a run', () => this.#runs.runEvicted(live))
    this.#reporter.warnOnce(
      'evicted',
      'Runs are evicted before their agent has ended: there are more than maxOpenRuns, they hold more than maxContentBytes, or they are older than maxRunAgeMs.',
    )
  }

  #toNext(span: EndedSpan, changes: Parameters<typeof viewOf>[1]): void {
    const { next } = this.#options
    if (next === undefined) return
    const view = this.#reporter.guard('Making a view of a span', () => viewOf(span, changes))
    // A span is not handed on at all if its content should be removed and could not be.
    if (view === undefined && changes.stripContent) return
    this.#toNextAsIs(view ?? span, next)
  }

  /** Hands on a span, or the view of one. Most spans take this path, so it does nothing else. */
  #toNextAsIs(span: EndedSpan, next: SpanProcessorLike): void {
    this.#reporter.callHook('next.onEnd', () => next.onEnd(span))
  }

  /**
   * The process is about to exit by itself: waiting model calls become runs, held spans are released, and `next` gets time to send them.
   */
  #releaseAtExit(): void {
    // The process would exit before their deadline. Where that takes several turns, it comes here again afterwards.
    void this.#reporter.settle('The end of the process', async () => inSlices(this.#store.settleAgentless()))
    this.#notices.conclude()
    this.#metrics.flush()
    if (this.#held.size === 0) return
    this.#held.releaseAll()
    void this.#flushing.flushNext()
  }

  /** The process exits, most likely by `process.exit()`: unfinished scores are lost. */
  #exited(): void {
    const pending = Object.values(this.ledger().scorers).reduce((sum, each) => sum + each.pending, 0)
    const unsent = this.ledger().runs.seen === 0 ? 0 : this.#flushing.unsentSpans()
    this.#notices.exited(pending, this.#held.size, unsent)
  }
}

/** Whether an exporter of the provider should receive scores on spans. */
function wantsExport({ next, onScore, emit }: ResolvedOptions): boolean {
  return next === undefined && onScore === undefined && (emit.attributes || emit.lateSpans !== 'never')
}

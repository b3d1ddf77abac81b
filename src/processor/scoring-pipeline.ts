import { propagation, trace } from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'

import { Emitter } from '../emit/emitter.ts'
import { feedbackAttributes, readFeedback } from '../emit/feedback.ts'
import type { Feedback } from '../emit/feedback.ts'
import { ProviderSink } from '../emit/provider-sink.ts'
import { ScoreMetrics } from '../emit/score-metrics.ts'
import { isReadable } from '../engine/admission.ts'
import type { ResolvedOptions } from '../engine/config/options.ts'
import { Engine } from '../engine/engine.ts'
import { Reporter } from '../engine/reporter.ts'
import type { RunScores } from '../engine/run-scores.ts'
import type { EndedRun } from '../runs/buffer/ended-run.ts'
import { ProcessSpans } from '../runs/buffer/process-spans.ts'
import { TraceBuffer } from '../runs/buffer/trace-buffer.ts'
import type { Eviction } from '../runs/buffer/trace-buffer-options.ts'
import { after } from '../scoring/after.ts'
import type { WorkSteps } from '../scoring/background.ts'
import { formatLedger } from '../scoring/ledger.ts'
import type { LedgerSnapshot } from '../scoring/ledger.ts'
import { runForeign } from '../scoring/run-foreign.ts'
import type { EndedSpan, OpenSpan, SpanProcessorLike } from '../spans/sdk-types.ts'
import { LogRecords } from './attach/log-records.ts'
import { flushLimitOf, isOnlyProcessor, otherProcessorsOf } from './attach/other-processors.ts'
import { Providers } from './attach/tracer-providers.ts'
import { Flushing } from './deliver/flushing.ts'
import { DelayedExport } from './deliver/delayed-export.ts'
import { createLogCapture } from './deliver/log-capture.ts'
import type { LogRecordProcessorLike } from './deliver/log-capture.ts'
import { ScoreWriter } from './deliver/score-writer.ts'
import { SpanOutput } from './deliver/span-output.ts'
import { viewOf } from './deliver/span-view.ts'
import { atExit } from './node-process.ts'
import { SetupNotices } from './notices/setup-notices.ts'
import { isLateSpan } from './own-work.ts'
import { SweepTimer } from './sweep-timer.ts'

const now = (): number => performance.now()

/** Connects the parts of one scoring processor: spans go in, scores come out. */
export class ScoringPipeline {
  readonly #options: ResolvedOptions
  readonly #buffer: TraceBuffer
  readonly #spans: ProcessSpans
  readonly #reporter = new Reporter()
  readonly #engine: Engine
  readonly #metrics: ScoreMetrics
  readonly #providers: Providers
  readonly #sink: ProviderSink
  readonly #held: DelayedExport
  readonly #flushing: Flushing
  readonly #notices: SetupNotices
  readonly #writer: ScoreWriter
  readonly #sweeps: SweepTimer
  readonly #logRecords: LogRecords
  #isStopped = false
  readonly #forgetExit: () => void
  /** Takes the log records in which instrumentations write messages. */
  readonly logRecordProcessor: LogRecordProcessorLike

  /** @param self the processor of this pipeline, which it excludes when it flushes the provider's other processors */
  constructor(options: ResolvedOptions, self: SpanProcessorLike) {
    this.#options = options
    const reporter = this.#reporter
    this.#notices = new SetupNotices({
      scorers: options.scorers,
      hasRuns: () => this.ledger().runs.seen > 0,
      exportsSpans: () => !wantsExport(options) || !isOnlyProcessor(options.tracerProvider, self),
      reporter,
    })
    const engine = new Engine({
      options,
      reporter,
      onLeftOut: (_run, scorer) => {
        if (options.emit.metrics) this.#metrics.countLeftOut(scorer)
      },
    })
    this.#engine = engine
    this.#providers = new Providers(options)
    this.#held = new DelayedExport({
      holdMs: options.holdMs,
      release: (span, scores) => this.#toNext(span, { scores, stripContent: options.stripContent }),
    })
    const gauges = {
      queueSize: () => engine.tasks.queued,
      openRuns: () => this.#buffer.openRuns,
      heldSpans: () => this.#held.size,
      budgetUsedRatio: () => engine.budget.usedRatio(),
    }
    this.#metrics = new ScoreMetrics({
      gauges,
      scorers: options.scorers,
      quietS: options.quietS,
      traits: options.emit.traits,
      nowMs: () => Date.now(),
      meterProvider: () => this.#providers.meterProvider(),
      guard: (what, run) => {
        const result = runForeign(run)
        if (result.ok) return result.value
        reporter.threw(what, result.error)
        return undefined
      },
      later: (run, ms) => {
        after(ms, () => {
          if (!this.#isStopped) run()
        })
      },
    })
    this.#sink = new ProviderSink(this.#providers, (what, error) => reporter.threw(what, error))
    this.#writer = new ScoreWriter({
      options,
      reporter,
      emitter: new Emitter({
        options: options.emit,
        sink: this.#sink,
        metrics: this.#metrics,
        nowMs: () => Date.now(),
      }),
      providers: this.#providers,
    })
    this.#buffer = new TraceBuffer({
      ...options,
      now,
      countsNested: engine.countsNested,
      isWanted: (traceId) => engine.isWanted(traceId),
      onSettled: (live, isFinal) => this.#settled(live, isFinal),
      onEvicted: (live, why) => this.#evicted(live, why),
      onDuplicate: () => engine.ledger.runDuplicate(),
      onLate: () => engine.ledger.spanLate(),
      onWaiting: () => this.#sweeps.changed(),
    })
    this.#spans = new ProcessSpans(this.#buffer, Date.now())
    this.#flushing = new Flushing({
      options,
      engine,
      held: this.#held,
      metrics: this.#metrics,
      sink: this.#sink,
      providers: this.#providers,
      reporter,
      buffer: this.#buffer,
      otherProcessors: () => otherProcessorsOf(options.tracerProvider, self),
    })
    this.#sweeps = new SweepTimer(this.#buffer, now, (error) => reporter.threw('A deadline', error))
    this.logRecordProcessor = createLogCapture(
      (log) => this.#spans.addLog(log),
      (error) => reporter.threw('logRecordProcessor.onEmit', error),
    )
    this.#logRecords = new LogRecords(() => this.#providers.loggerProvider(), this.logRecordProcessor)
    this.#forgetExit = atExit({ release: () => this.#releaseAtExit(), exited: () => this.#exited() })
  }

  /** Called when a span starts. */
  started(span: OpenSpan, parentContext: Context): void {
    if (isLateSpan(span)) return
    if (!this.#spans.start(span, trace.getSpan(parentContext), propagation.getBaggage(parentContext))) return
    this.#logRecords.find()
  }

  /** Called while a span is ending and can still be written. */
  ending(span: OpenSpan): void {
    const live = this.#spans.ending(span)
    if (live !== undefined) this.#runEnded(live, span)
  }

  /** Called when a span has ended. Returns the run whose agent it is, so that the span can be held or handed on. */
  ended(span: EndedSpan): RunScores | undefined {
    // For SDKs and wrappers that do not call `onEnding`, such as SDK 1.30 and before 2.3.
    const live = this.#spans.ending(span)
    const scores = live && this.#runEnded(live, 'ended')
    const role = this.#spans.ended(span)
    if (role === undefined) this.#notices.ordinarySpanEnded(span)
    else if (role === 'step') this.#notices.stepEnded(span)
    return scores
  }

  /** Called when a span has ended after the shutdown. */
  endedAfterShutdown(span: EndedSpan): void {
    // A run that was open at the shutdown was scored as it was.
    if (!this.#spans.isRecognised(span)) this.#notices.endedAfterShutdown(span)
  }

  /** Hands an ended span on to `next`, now or after holding it for its scores. */
  handOn(span: EndedSpan, scores: RunScores | undefined): void {
    const { holdMs, next, stripContent } = this.#options
    const target = scores?.target instanceof SpanOutput ? scores.target : undefined
    if (next !== undefined && holdMs > 0 && scores?.isAwaited === true) {
      this.#reporter.guard('Holding a span', () => target?.hold(this.#held.hold(span)))
      return
    }
    const written = target?.handOn()
    if (next === undefined) return
    if (stripContent || written !== undefined) this.#toNext(span, { ...(written && { scores: written }), stripContent })
    else this.#toNextAsIs(span, next)
  }

  /** @throws TypeError if the feedback is not in its form. */
  feedback(given: Feedback): boolean {
    const feedback = readFeedback(given)
    const { emit } = this.#options
    if (emit.metrics) this.#metrics.countFeedback(feedback.name, feedback.label)
    if (!emit.events) return false
    return this.#sink.writeFeedback(feedback.target, feedbackAttributes(feedback, emit), Date.now())
  }

  /** @param stopped the end of scoring, if it has begun @param limitMs milliseconds after which the caller gives up */
  async flush(stopped: Promise<void> | undefined, limitMs?: number): Promise<void> {
    await this.#flushing.flush(stopped, limitMs ?? flushLimitOf(this.#options.tracerProvider))
  }

  /** Ends scoring. Small runs are finished before the first `await`. */
  async stop(): Promise<void> {
    await this.#reporter.settle('shutdown', () => this.#flushing.drain())
    this.#notices.conclude()
    this.#forgetExit()
    this.#reporter.guard('shutdown', () => this.#metrics.stop())
    this.#isStopped = true
    this.#logRecords.stop()
    this.#sweeps.stop()
    this.#reporter.info(formatLedger(this.ledger()))
  }

  async shutdownNext(): Promise<void> {
    await this.#reporter.settle('shutdown', () => this.#flushing.shutdownNext())
  }

  ledger(): LedgerSnapshot {
    return this.#engine.ledger.snapshot(this.#buffer.openRuns)
  }

  /** Reports errors in hooks, each once. Nothing is thrown into the application. */
  get reporter(): Reporter {
    return this.#reporter
  }

  #runEnded(live: EndedRun, at: OpenSpan | 'ended'): RunScores | undefined {
    const scores = this.#engine.offer(live, () => this.#placeOf(live, at))
    if (scores?.target instanceof SpanOutput) scores.target.endingIsOver()
    return scores
  }

  /** @param at the live span in `onEnding`, `ended` in `onEnd`, or `gone` if it was handed on */
  #placeOf({ span }: EndedRun, at: OpenSpan | 'ended' | 'gone'): SpanOutput {
    return new SpanOutput({
      span,
      at,
      hasNext: this.#options.next !== undefined,
      write: (target, evaluation, run, isFirst) => this.#writer.write(target, evaluation, run, isFirst),
    })
  }

  #settled(live: EndedRun, isFinal: boolean): void {
    if (isFinal && !live.nested) this.#engine.ledger.runClosed()
    // A run that is only found now has no agent, or was not known to be a run: its spans were handed on.
    this.#reporter.guard('Scoring a run', () => this.#engine.settle(live, isFinal, () => this.#placeOf(live, 'gone')))
    if (!isFinal) return
    if (live.readBytes <= this.#options.maxSyncBytes) this.#lookAt(live)
    else void this.#reporter.settle('Looking at a run', () => this.#engine.background.run(this.#readAndLookAt(live)))
  }

  *#readAndLookAt(live: EndedRun): WorkSteps {
    if (isReadable(live) && !this.#isStopped) yield* live.readInSteps()
    this.#lookAt(live)
  }

  /** Counts a settled run, scored or not, and passes it to the notices. */
  #lookAt(live: EndedRun): void {
    const isRead = live.wanted && isReadable(live) && !this.#isStopped
    const run = isRead ? this.#reporter.guard('Putting a run together', () => live.current()) : undefined
    this.#reporter.guard('Looking at a run', () => this.#notices.runSettled(run))
    if (!live.nested) this.#countRun('closed', run?.agent.name)
  }

  #countRun(outcome: 'closed' | 'evicted', agentName: string | undefined): void {
    if (this.#options.emit.metrics) this.#metrics.countRun(outcome, agentName)
  }

  #evicted(live: EndedRun, why: Eviction): void {
    this.#engine.ledger.runEvicted()
    // If the attributes of a span could not be read, and this threw, the run would never be evicted.
    const name = this.#reporter.guard('Giving up a run', () => live.span.attributes['gen_ai.agent.name'])
    this.#countRun('evicted', typeof name === 'string' ? name : undefined)
    this.#reporter.guard('Giving up a run', () => this.#engine.evict(live, this.#placeOf(live, 'gone')))
    if (why === 'idle') {
      const { name: library = 'an unknown library', version = '' } =
        live.span.instrumentationScope ?? live.span.instrumentationLibrary ?? {}
      this.#reporter.warnOnce(
        `idle ${library}`,
        `An agent's span of ${`${library} ${version}`.trimEnd()} has not ended, and nothing happened in its trace for maxIdleMs. ` +
          'Streams that fail or are not read to their end leave such spans, in the AI SDK up to ai 7.0.93.',
      )
      return
    }
    this.#reporter.warnOnce(
      'evicted',
      'Runs are evicted before their agent has ended: open runs take more than memoryBytes.',
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
    try {
      next.onEnd(span)
    } catch (error) {
      this.#reporter.threw('next.onEnd', error)
    }
  }

  /**
   * The process is about to exit by itself: waiting model calls become runs, held spans are released, and `next` gets time to send them.
   */
  #releaseAtExit(): void {
    // The process would exit before their deadline. Where that takes several turns, it comes here again afterwards.
    void this.#reporter.settle('The end of the process', async () => {
      const steps = this.#buffer.flush()
      // Nothing is scheduled if there is nothing to do: the process would come here again, without end.
      if (steps.next().done !== true) await this.#engine.background.run(steps)
    })
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

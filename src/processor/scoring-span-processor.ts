import type { Context } from '@opentelemetry/api'

import type { Feedback } from '../emit/feedback.ts'
import { refuseNode } from '../model/node-version.ts'
import { detached } from '../scoring/isolation.ts'
import type { LedgerSnapshot } from '../scoring/ledger.ts'
import { callForeign } from '../scoring/run-foreign.ts'
import type { ResolvedScorer } from '../engine/config/options.ts'
import type { LogRecordProcessorLike } from './deliver/log-capture.ts'
import { reportUnusedVariables } from '../engine/config/environment.ts'
import { resolveOptions } from '../engine/config/options.ts'
import { refuseConversations } from '../engine/config/refuse-conversations.ts'
import { notifyVariable } from '../engine/notices/notify.ts'
import type { Reporter } from '../engine/reporter.ts'
import type { RunScores } from '../engine/run-scores.ts'
import { OwnWork } from './own-work.ts'
import { ScoringPipeline } from './scoring-pipeline.ts'
import type { ScoringOptions } from '../engine/config/scoring-options.ts'
import type { EndedSpan, OpenSpan, SpanProcessorLike } from '../spans/sdk-types.ts'
import { canRead } from './attach/attach-notices.ts'
import { markAsScoring } from './attach/other-processors.ts'

/**
 * A span processor for OpenTelemetry JS SDK 1.30, 2.x and 3.x that reconstructs agent runs from spans and scores them. With `next`, it sits
 * in front of other processors, so that judge scores can be on the agent's own span too. Without `next`, it sits beside them.
 *
 * @example
 * new TracerProvider({
 *   spanProcessors: [new ScoringSpanProcessor({ scorers, next: new BatchSpanProcessor({ exporter }) })],
 * })
 */
export class ScoringSpanProcessor implements SpanProcessorLike {
  readonly #pipeline: ScoringPipeline
  readonly #reporter: Reporter
  readonly #ownWork = new OwnWork()
  readonly #next: SpanProcessorLike | undefined
  /** Whether a span could be read. Until then each one is checked, because tracers that are not of the SDK have spans of their own kind. */
  #hasRead = false
  #stopped: Promise<void> | undefined
  #shutdown: Promise<void> | undefined
  /** Reads messages that instrumentations write as log records. Only a logger provider that is not of the SDK needs it to be added. */
  readonly logRecordProcessor: LogRecordProcessorLike

  /** @throws TypeError if an option is wrong: `<path>: expected …, got …` */
  constructor(options: ScoringOptions) {
    const resolved = resolveOptions(options)
    refuseConversations(resolved, 'The processor')
    reportUnusedVariables(options, process.env, notifyVariable)
    markAsScoring({ processor: this, options: resolved, ledger: () => this.ledger() })
    this.#pipeline = new ScoringPipeline(resolved, this)
    this.#reporter = this.#pipeline.reporter
    // In a Node.js that is too old, which the pipeline has reported, spans are only handed on.
    if (refuseNode() === undefined) prepareJudges(resolved.scorers)
    else this.#stopped = Promise.resolve()
    this.#next = resolved.next
    this.logRecordProcessor = this.#pipeline.logRecordProcessor
  }

  onStart(span: OpenSpan, parentContext: Context): void {
    try {
      if (this.#ownWork.drops(span)) return
      if (this.#stopped === undefined && (this.#hasRead ||= canRead(span, this)))
        this.#pipeline.started(span, parentContext)
    } catch (error) {
      this.#reporter.threw('onStart', error)
    }
    try {
      this.#next?.onStart(span, parentContext)
    } catch (error) {
      this.#reporter.threw('next.onStart', error)
    }
  }

  onEnding(span: OpenSpan): void {
    if (this.#ownWork.dropped?.has(span) === true) return
    try {
      if (this.#stopped === undefined && this.#hasRead) this.#pipeline.ending(span)
    } catch (error) {
      this.#reporter.threw('onEnding', error)
    }
    try {
      this.#next?.onEnding?.(span)
    } catch (error) {
      this.#reporter.threw('next.onEnding', error)
    }
  }

  onEnd(span: EndedSpan): void {
    if (this.#ownWork.dropped?.has(span) === true) return
    let scored: RunScores | undefined
    try {
      if (this.#stopped === undefined) scored = this.#hasRead ? this.#pipeline.ended(span) : undefined
      else if (this.#shutdown !== undefined) this.#pipeline.endedAfterShutdown(span)
    } catch (error) {
      this.#reporter.threw('onEnd', error)
    }
    this.#pipeline.handOn(span, scored)
  }

  /**
   * Waits for judges for up to `flushTimeoutMs`, releases held spans, then flushes the processors behind. Never rejects.
   *
   * @param limitMs milliseconds after which the caller gives up, so that this resolves earlier. Scores that are not finished come later.
   * By default the provider's own limit: 30,000, and 500 in Sentry's.
   */
  async forceFlush(limitMs?: number): Promise<void> {
    await this.#pipeline.flush(this.#stopped, typeof limitMs === 'number' ? limitMs : undefined)
  }

  /**
   * Ends scoring and shuts down the processors behind. Finished scores are written; the others are `skipped: shutdown`. Idempotent; never
   * rejects.
   */
  shutdown(): Promise<void> {
    const stopped = this.stopScoring()
    this.#shutdown ??= stopped.then(() => this.#pipeline.shutdownNext())
    return this.#shutdown
  }

  /** Ends scoring, but keeps handing spans on to the processors behind. Idempotent; never rejects. */
  stopScoring(): Promise<void> {
    if (this.#stopped === undefined) {
      // A scorer or `onScore` may come here again while the last runs are scored.
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#stopped = promise
      resolve(this.#pipeline.stop())
    }
    return this.#stopped
  }

  /**
   * Writes what a user says of an answer, now or days later: a `gen_ai.evaluation.result` event of evaluator type `user`, and a count. It is
   * not in the ledger.
   *
   * @example
   * scoring.feedback({ traceId, spanId, name: 'thumbs', value: false, comment: 'wrong city' })
   *
   * @returns whether an event was written; there is none without a logger provider
   * @throws TypeError if the feedback is not in its form
   */
  feedback(feedback: Feedback): boolean {
    return this.#pipeline.feedback(feedback)
  }

  /** The outcome of every run and every score so far. */
  ledger(): LedgerSnapshot {
    return this.#pipeline.ledger()
  }
}

/**
 * Loads what the judges' calls need soon after the processor was created. Some packages take tens of milliseconds in one turn of the event
 * loop, which an application can spare while it starts, and not while it serves requests.
 */
function prepareJudges(scorers: readonly ResolvedScorer[]): void {
  const judges = scorers.flatMap(({ scorer }) => scorer.judge ?? [])
  if (judges.length === 0) return
  detached(() =>
    setImmediate(() => {
      // An error is reported when the judge is asked for a score.
      for (const judge of judges) callForeign(() => judge.prepare?.(), ignore)
    }),
  )
}

function ignore(): void {}

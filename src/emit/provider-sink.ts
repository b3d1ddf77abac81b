import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Context, SpanContext } from '@opentelemetry/api'

import { detached } from '../scoring/isolation.ts'
import { callForeign, runForeign } from '../scoring/run-foreign.ts'
import type { ScoreSink, PreparedScore } from './emitter.ts'
import type { ScoreAttributes } from '../attributes/attribute-table.ts'
import { EVENT_NAME, INFO, severityOf } from '../attributes/event-attributes.ts'
import { SCOPE_NAME, SCOPE_VERSION } from './signal-providers.ts'
import type { EmissionProviders, LoggerLike, LoggerProviderLike } from './signal-providers.ts'

const LOGGER_PROVIDER = 'The logger provider'

/** Writes events and late spans to the providers of the application. */
export class ProviderSink implements ScoreSink {
  readonly #providers: EmissionProviders
  readonly #onError: (what: string, error: unknown) => void
  #known: { readonly provider: LoggerProviderLike; readonly logger: LoggerLike } | undefined
  #isShuttingDown = false
  #haveLoggersEnded = false
  #lostEvents = 0
  #lateSpansOfShutdown = 0
  #latest: { readonly target: SpanContext; readonly context: Context } | undefined

  /** @param onError Called if a provider throws; `what` names it. */
  constructor(providers: EmissionProviders, onError: (what: string, error: unknown) => void) {
    this.#providers = providers
    this.#onError = onError
  }

  /** Events that were not written, because the logger provider had been shut down before us. */
  get lostEvents(): number {
    return this.#lostEvents
  }

  /** Late spans that were written since the shutdown began. */
  get lateSpansOfShutdown(): number {
    return this.#lateSpansOfShutdown
  }

  /** From now on, the logger provider may be shut down at any time. The events that it no longer takes are counted. */
  beginShutdown(): void {
    const isFirst = this.#known === undefined
    this.takesEvents()
    this.#isShuttingDown = true
    // If nothing was written before, there is no earlier logger to compare with.
    if (!isFirst) return
    const found = runForeign(() => this.#known?.logger.constructor.name === 'NoopLogger')
    this.#haveLoggersEnded = found.ok && found.value
  }

  /** Looks up the logger of the provider that is there by now, before anything is written for it. */
  takesEvents(): boolean {
    if (this.#isShuttingDown && this.#lookForEndOfLoggers()) {
      this.#lostEvents += 1
      return false
    }
    const provider = this.#providers.loggerProvider()
    // `getLogger` may be expensive, so the logger is kept as long as the provider is the same.
    if (provider === undefined || provider === this.#known?.provider) return provider !== undefined
    const found = runForeign(() => provider.getLogger(SCOPE_NAME, SCOPE_VERSION))
    if (found.ok) this.#known = { provider, logger: found.value }
    else this.#onError(LOGGER_PROVIDER, found.error)
    return found.ok
  }

  write(score: PreparedScore): void {
    const logger = this.#known?.logger
    if (score.isEvent && logger !== undefined) {
      callForeign(
        () => this.#writeEvent(logger, score),
        (error) => this.#onError(LOGGER_PROVIDER, error),
      )
    }
    if (!score.isLateSpan) return
    if (this.#isShuttingDown) this.#lateSpansOfShutdown += 1
    try {
      // This may run while scorers are isolated, but the span must reach the application's processors.
      detached(() => this.#writeLateSpan(score))
    } catch (error) {
      this.#onError('The tracer provider', error)
    }
  }

  /** Writes the event of a user's feedback. Never throws. @returns whether a logger provider took it */
  writeFeedback(target: SpanContext, attributes: ScoreAttributes, nowMs: number): boolean {
    if (!this.takesEvents()) return false
    const logger = this.#known?.logger
    if (logger === undefined) return false
    const seconds = Math.trunc(nowMs / 1000)
    const record = {
      eventName: EVENT_NAME,
      ...INFO,
      timestamp: [seconds, Math.round((nowMs - seconds * 1000) * 1e6)] satisfies [number, number],
      observedTimestamp: nowMs,
      context: trace.setSpanContext(ROOT_CONTEXT, target),
      attributes,
    }
    callForeign(
      () => logger.emit(record),
      (error) => this.#onError(LOGGER_PROVIDER, error),
    )
    return true
  }

  /** Whether the logger provider was shut down: it then gives loggers of another class, which do nothing. */
  #lookForEndOfLoggers(): boolean {
    const known = this.#known
    if (this.#haveLoggersEnded || known === undefined) return this.#haveLoggersEnded
    const found = runForeign(() => {
      const logger: object = known.provider.getLogger(SCOPE_NAME, SCOPE_VERSION)
      return Object.getPrototypeOf(logger) !== Object.getPrototypeOf(known.logger)
    })
    this.#haveLoggersEnded = found.ok && found.value
    return this.#haveLoggersEnded
  }

  #writeEvent(logger: LoggerLike, score: PreparedScore): unknown {
    const { evaluation, target, endTime, attributes, isLateSpan, verdictTimeMs } = score
    return logger.emit({
      eventName: EVENT_NAME,
      ...severityOf(evaluation),
      timestamp: writableTime(endTime, verdictTimeMs),
      observedTimestamp: verdictTimeMs,
      context: this.#contextOf(target),
      // The application's log processors may write to what they get.
      attributes: isLateSpan ? { ...attributes } : attributes,
    })
  }

  /** The context of the score's span. The latest is kept, because the scores of one run follow one another. */
  #contextOf(target: SpanContext): Context {
    if (this.#latest?.target !== target) {
      this.#latest = { target, context: trace.setSpanContext(ROOT_CONTEXT, target) }
    }
    return this.#latest.context
  }

  /** Writes a child of the span of the run, or of the call. It starts and ends when the run ended, so that the trace does not become longer. */
  #writeLateSpan({ evaluation, target, endTime, attributes, ofLateSpan, verdictTimeMs }: PreparedScore): void {
    const time = writableTime(endTime, verdictTimeMs)
    const tracer = this.#providers.tracerProvider()?.getTracer(SCOPE_NAME, SCOPE_VERSION)
    const span = tracer?.startSpan(
      `evaluate ${evaluation.scorer.id}`,
      { startTime: [...time], attributes: { ...ofLateSpan, ...attributes } },
      this.#contextOf(target),
    )
    span?.end([...time])
  }
}

/** The last second that OTLP, with its 64 bits of nanoseconds, can have. */
const LAST_SECOND = 18_446_744_072

/**
 * The time of a span as seconds and nanoseconds, or another time if it is not one. Instrumentations compute ends from numbers that may be
 * missing, and exporters that meet `NaN` lose all records of a batch.
 *
 * @param otherwiseMs milliseconds since the epoch
 */
function writableTime(
  [seconds, nanoseconds]: readonly [number, number],
  otherwiseMs: number,
): [seconds: number, nanoseconds: number] {
  if (isUpTo(seconds, LAST_SECOND) && isUpTo(nanoseconds, 999_999_999)) return [seconds, nanoseconds]
  const otherwise = Math.trunc(otherwiseMs / 1000)
  return [otherwise, Math.round((otherwiseMs - otherwise * 1000) * 1e6)]
}

function isUpTo(value: unknown, most: number): boolean {
  return typeof value === 'number' && value >= 0 && value <= most
}

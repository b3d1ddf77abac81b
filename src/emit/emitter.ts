import { ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api'
import type { Context, SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import { detached } from '../scoring/isolation.ts'
import { callForeign, runForeign } from '../scoring/run-foreign.ts'
import { notAPromise } from '../scoring/thenable.ts'
import { eventAttributes } from './event-attributes.ts'
import { SCOPE_NAME, SCOPE_VERSION } from './signal-providers.ts'
import type { EmissionProviders, LoggerLike, LoggerProviderLike } from './signal-providers.ts'
import { isSilent, scoreAttributes } from './score-attributes.ts'
import type { ExplanationPolicy, ExplanationRules, ScoreAttributes } from './score-attributes.ts'
import type { ScoreMetrics } from './score-metrics.ts'

/** Which signals are written. */
export interface EmitOptions {
  /** Writes scores as attributes of the agent's span. @default true */
  readonly attributes: boolean
  /** Writes scores as `gen_ai.evaluation.result` log events. @default true */
  readonly events: boolean
  /**
   * Writes scores as spans `evaluate <id>`: only if the score is not on the agent's span (`late`), `always`, or `never`.
   *
   * @default 'late'
   */
  readonly lateSpans: 'late' | 'always' | 'never'
  /** Writes the `spanscore.*` metrics. @default true */
  readonly metrics: boolean
  /**
   * Whose explanations leave the process: those of all scorers, of code scorers only, or none.
   *
   * @default `all`; `code` with `stripContent`
   */
  readonly explanations: ExplanationPolicy
}

/** One evaluation that is to be written, and where it belongs. */
export interface Emission {
  readonly evaluation: Evaluation
  /** Absent if the run was left out before it was reconstructed. */
  readonly run: AgentRun | undefined
  /** The span that the score belongs to. */
  readonly target: SpanContext
  /** When the run ended, with the precision of its span. */
  readonly endTime: readonly [number, number]
  /** Whether that span has the attributes already, or gets them before it is passed on. */
  readonly isOnSpan: boolean
  /** False for a second revision: it is written, but not counted again. */
  readonly counted: boolean
  /** Attributes that `metricAttributes` copies. */
  readonly extra: ScoreAttributes
  /** Attributes that identify the score, in whichever process it is computed. They are for event and late span, never for metrics. */
  readonly identity?: ScoreAttributes
}

/** What an emitter needs. */
export interface EmitterParts {
  readonly options: EmitOptions & ExplanationRules
  readonly providers: EmissionProviders
  readonly metrics: ScoreMetrics
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  /** Called if a provider throws; `what` names it. */
  readonly onError: (what: string, error: unknown) => void
}

const LOGGER_PROVIDER = 'The logger provider'
const INFO = 9
const WARN = 13

/** Writes evaluations as events, late spans and metrics. The processor writes the attributes of live spans, because it has the span. */
export class Emitter {
  readonly #options: EmitterParts['options']
  readonly #providers: EmissionProviders
  readonly #metrics: ScoreMetrics
  readonly #nowMs: () => number
  readonly #onError: EmitterParts['onError']
  #known: { readonly provider: LoggerProviderLike; readonly logger: LoggerLike } | undefined

  #latest: { readonly target: SpanContext; readonly context: Context } | undefined

  constructor({ options, providers, metrics, nowMs, onError }: EmitterParts) {
    this.#options = options
    this.#providers = providers
    this.#metrics = metrics
    this.#nowMs = nowMs
    this.#onError = onError
  }

  /** Writes every enabled signal. Errors stay separate: if the meter provider throws, event and late span are still written. */
  emit(emission: Emission): void {
    const { evaluation, run, counted, extra } = emission
    if (counted && this.#options.metrics) this.#metrics.record(evaluation, run, extra)
    if (run === undefined || isSilent(evaluation)) return
    const logger = this.#wantsEvent(evaluation) ? this.#logger() : undefined
    const wantsLateSpan = this.#wantsLateSpan(emission)
    if (logger === undefined && !wantsLateSpan) return
    const verdictTimeMs = this.#nowMs()
    const { identity } = emission
    const attributes = eventAttributes(evaluation, run, {
      rules: this.#options,
      verdictTimeMs,
      extra: identity === undefined ? extra : { ...extra, ...identity },
    })
    if (logger !== undefined) {
      // The application's log processors may write to what they get.
      const own = wantsLateSpan ? { ...attributes } : attributes
      callForeign(
        () => this.#writeEvent(logger, emission, own, verdictTimeMs),
        (error) => this.#onError(LOGGER_PROVIDER, error),
      )
    }
    if (!wantsLateSpan) return
    try {
      // This may run while scorers are isolated, but the span must reach the application's processors.
      detached(() => this.#writeLateSpan(emission, attributes))
    } catch (error) {
      this.#onError('The tracer provider', error)
    }
  }

  #writeEvent(logger: LoggerLike, emission: Emission, attributes: ScoreAttributes, verdictTimeMs: number): unknown {
    const failed = emission.evaluation.score.status === 'failed'
    return logger.emit({
      eventName: 'gen_ai.evaluation.result',
      severityNumber: failed ? WARN : INFO,
      severityText: failed ? 'WARN' : 'INFO',
      timestamp: [...emission.endTime],
      observedTimestamp: verdictTimeMs,
      context: this.#contextOf(emission.target),
      attributes,
    })
  }

  /** The context of the run's span. The latest is kept, because the scores of one run follow one another. */
  #contextOf(target: SpanContext): Context {
    if (this.#latest?.target !== target) {
      this.#latest = { target, context: trace.setSpanContext(ROOT_CONTEXT, target) }
    }
    return this.#latest.context
  }

  /** The logger of the provider that is there by now, before anything is written for it. */
  #logger(): LoggerLike | undefined {
    const found = runForeign(() => {
      const provider = this.#providers.loggerProvider()
      if (provider === undefined) return undefined
      // `getLogger` may be expensive, so the logger is kept as long as the provider is the same.
      if (this.#known?.provider !== provider) {
        this.#known = { provider, logger: notAPromise(provider.getLogger(SCOPE_NAME, SCOPE_VERSION)) }
      }
      return this.#known.logger
    })
    if (found.ok) return found.value
    this.#onError(LOGGER_PROVIDER, found.error)
    return undefined
  }

  #wantsEvent({ score }: Evaluation): boolean {
    return this.#options.events && score.status !== 'skipped'
  }

  #wantsLateSpan({ isOnSpan, target }: Emission): boolean {
    const { lateSpans } = this.#options
    if (lateSpans === 'never' || (target.traceFlags & TraceFlags.SAMPLED) === 0) return false
    return lateSpans === 'always' || !isOnSpan
  }

  /** Writes a child of the run's span. It starts and ends when the run ended, so that the trace does not become longer. */
  #writeLateSpan({ evaluation, target, endTime }: Emission, attributes: ScoreAttributes): void {
    const tracer = this.#providers.tracerProvider()?.getTracer(SCOPE_NAME, SCOPE_VERSION)
    const span = tracer?.startSpan(
      `evaluate ${evaluation.scorer.id}`,
      {
        startTime: [...endTime],
        attributes: {
          'gen_ai.operation.name': 'evaluation',
          ...scoreAttributes(evaluation, this.#options),
          ...attributes,
        },
      },
      this.#contextOf(target),
    )
    span?.end([...endTime])
  }
}

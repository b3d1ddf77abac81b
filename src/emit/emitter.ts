import { ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api'
import type { Context, SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import { eventAttributes } from './event-attributes.ts'
import { SCOPE_NAME, SCOPE_VERSION } from './signal-providers.ts'
import type { EmissionProviders, LoggerLike, LoggerProviderLike } from './signal-providers.ts'
import { isSilent, scoreAttributes } from './score-attributes.ts'
import type { ExplanationPolicy, ScoreAttributes } from './score-attributes.ts'
import type { ScoreMetrics } from './score-metrics.ts'

/** Which signals are written. */
export interface EmitOptions {
  /** Writes scores as attributes of the agent's span. @default true */
  readonly attributes: boolean
  /** Writes scores as `gen_ai.evaluation.result` log events. @default true */
  readonly events: boolean
  /**
   * Writes scores as spans `evaluate <id>`: `late` where the score is not on the agent's span, `always`, or `never`.
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

/** One evaluation on its way out. */
export interface Emission {
  readonly evaluation: Evaluation
  /** Absent where the run was not put together (it was left out before anybody asked). */
  readonly run: AgentRun | undefined
  /** The span that the score belongs to. */
  readonly target: SpanContext
  /** When the run ended, as exact as its span has it. */
  readonly endTime: readonly [number, number]
  /** Whether the attributes stand on that span, or will when it is handed on. */
  readonly stands: boolean
  /** False for a second revision, which is written and not counted again. */
  readonly counted: boolean
  /** Copies of attributes that the application asked for. */
  readonly extra: ScoreAttributes
  /** What identifies the score wherever it is computed: for event and late span, never for metrics. */
  readonly identity?: ScoreAttributes
}

const INFO = 9
const WARN = 13

/** Writes evaluations as events, late spans and metrics; the attributes on live spans are the processor's, which has the span. */
export class Emitter {
  readonly #options: EmitOptions
  readonly #providers: EmissionProviders
  readonly #metrics: ScoreMetrics
  readonly #nowMs: () => number
  #known: { readonly provider: LoggerProviderLike; readonly logger: LoggerLike } | undefined

  #latest: { readonly target: SpanContext; readonly context: Context } | undefined

  /** @param nowMs Milliseconds since the epoch. */
  constructor(options: EmitOptions, providers: EmissionProviders, metrics: ScoreMetrics, nowMs: () => number) {
    this.#options = options
    this.#providers = providers
    this.#metrics = metrics
    this.#nowMs = nowMs
  }

  emit(emission: Emission): void {
    const { evaluation, run, counted, extra } = emission
    if (counted && this.#options.metrics) {
      this.#metrics.record(evaluation, run, extra)
    }
    if (run === undefined || isSilent(evaluation)) return
    const logger = this.#wantsEvent(evaluation) ? this.#logger() : undefined
    const wantsLateSpan = this.#wantsLateSpan(emission)
    if (!logger && !wantsLateSpan) return
    const verdictTimeMs = this.#nowMs()
    const attributes = eventAttributes(evaluation, run, {
      explanations: this.#options.explanations,
      verdictTimeMs,
      extra: emission.identity === undefined ? extra : { ...extra, ...emission.identity },
    })
    const failed = evaluation.score.status === 'failed'
    logger?.emit({
      eventName: 'gen_ai.evaluation.result',
      severityNumber: failed ? WARN : INFO,
      severityText: failed ? 'WARN' : 'INFO',
      timestamp: [...emission.endTime],
      observedTimestamp: verdictTimeMs,
      context: this.#contextOf(emission.target),
      attributes,
    })
    if (wantsLateSpan) this.#writeLateSpan(emission, attributes)
  }

  /** The scores of one run come one after the other. */
  #contextOf(target: SpanContext): Context {
    if (this.#latest?.target !== target) {
      this.#latest = { target, context: trace.setSpanContext(ROOT_CONTEXT, target) }
    }
    return this.#latest.context
  }

  #logger(): LoggerLike | undefined {
    const provider = this.#providers.loggerProvider()
    if (provider === undefined) return undefined
    // Getting one may be expensive: kept for as long as the provider is the same.
    if (this.#known?.provider !== provider) {
      this.#known = { provider, logger: provider.getLogger(SCOPE_NAME, SCOPE_VERSION) }
    }
    return this.#known.logger
  }

  #wantsEvent({ score }: Evaluation): boolean {
    return this.#options.events && score.status !== 'skipped'
  }

  #wantsLateSpan({ stands, target }: Emission): boolean {
    const { lateSpans } = this.#options
    if (lateSpans === 'never' || (target.traceFlags & TraceFlags.SAMPLED) === 0) return false
    return lateSpans === 'always' || !stands
  }

  /** A child of the run's span that starts and ends when the run ended: trace durations do not grow. */
  #writeLateSpan({ evaluation, target, endTime }: Emission, attributes: ScoreAttributes): void {
    const tracer = this.#providers.tracerProvider()?.getTracer(SCOPE_NAME, SCOPE_VERSION)
    const span = tracer?.startSpan(
      `evaluate ${evaluation.scorer.id}`,
      {
        startTime: [...endTime],
        attributes: {
          'gen_ai.operation.name': 'evaluation',
          ...scoreAttributes(evaluation, this.#options.explanations),
          ...attributes,
        },
      },
      this.#contextOf(target),
    )
    span?.end([...endTime])
  }
}

import { TraceFlags } from '@opentelemetry/api'

import { CopiedAttributes } from '../../emit/copied-attributes.ts'
import { disablingVariable } from '../../emit/disabling-variable.ts'
import type { Emitter } from '../../emit/emitter.ts'
import type { ScoreAttributes } from '../../attributes/attribute-table.ts'
import { isSilent, scoreAttributes } from '../../attributes/score-attributes.ts'
import type { EmissionProviders } from '../../emit/signal-providers.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { Evaluation } from '../../model/score.ts'
import { reportFailingJudge, reportFailure, reportMissingJudge } from '../notices/judge-notices.ts'
import { FailingJudges } from '../../engine/failing-judges.ts'
import type { ResolvedOptions } from '../../engine/config/options.ts'
import type { Reporter } from '../../engine/reporter.ts'
import type { SpanOutput } from './span-output.ts'
import { withOwnFacts } from '../../runs/view/with-own-facts.ts'

/** What a score writer needs. */
export interface ScoreWriterParts {
  readonly options: ResolvedOptions
  readonly emitter: Emitter
  readonly reporter: Reporter
  readonly providers: EmissionProviders
}

/** Records one evaluation in the ledger and writes it to every signal. */
export class ScoreWriter {
  readonly #parts: ScoreWriterParts
  readonly #copied: CopiedAttributes
  readonly #failingJudges = new FailingJudges()
  #hasScored = false

  constructor(parts: ScoreWriterParts) {
    this.#parts = parts
    this.#copied = new CopiedAttributes(parts.options.metricAttributes)
  }

  /**
   * @param run absent if the run was left out before it was put together
   * @param isFirst false for a second evaluation of a run by one scorer, which is written but not counted again
   */
  write(target: SpanOutput, evaluation: Evaluation, run: AgentRun | undefined, isFirst: boolean): void {
    const { options, reporter } = this.#parts
    reporter.guard('Writing a score', () => this.#emit(target, evaluation, run, isFirst))
    const { onScore } = options
    const { score, scorer } = evaluation
    reportFailure(evaluation, reporter)
    const failing = this.#failingJudges.look(evaluation)
    if (failing !== undefined) reportFailingJudge(failing, reporter)
    if (score.status === 'skipped' && score.reason === 'judge-unavailable') {
      const model = options.scorers.find(({ id }) => id === scorer.id)?.scorer.judge?.model ?? ''
      reportMissingJudge(scorer.id, model, score.messageWithoutContent ?? 'onScore has the reason.', reporter)
    }
    if (onScore !== undefined && run !== undefined && !isSilent(evaluation)) {
      freezeEvaluation(evaluation)
      reporter.callBack('onScore', () => onScore(evaluation, withOwnFacts(run)))
    }
  }

  #emit(target: SpanOutput, evaluation: Evaluation, run: AgentRun | undefined, isFirst: boolean): void {
    const { emitter, options } = this.#parts
    if (evaluation.score.status === 'scored' && !this.#hasScored) {
      this.#hasScored = true
      this.#parts.reporter.info(describeDestinations(options, this.#parts.providers))
      this.#noteAlertsWithoutMetrics()
    }
    emitter.emit({
      evaluation,
      run,
      target: target.spanContext,
      endTime: target.span.endTime,
      isOnSpan: this.#writeToSpan(target, scoreAttributes(evaluation, options.emit)),
      counted: isFirst,
      extra: this.#copied.of({
        attributes: target.span.attributes,
        surrounding: run?.surrounding,
        resource: target.span.resource,
      }),
    })
  }

  #noteAlertsWithoutMetrics(): void {
    const { options, providers, reporter } = this.#parts
    const alerting = options.scorers.filter(({ hasAlerts }) => hasAlerts).map(({ id }) => id)
    if (alerting.length === 0 || (options.emit.metrics && providers.meterProvider() !== undefined)) return
    const why = options.emit.metrics ? 'no meter provider is registered' : 'emit.metrics is false'
    const variable = disablingVariable('metrics', process.env)
    const register = variable === undefined ? 'in NodeSDK, set metricReaders' : `${variable} leaves none`
    reporter.notify(
      'SPANSCORE_NO_METRICS',
      `Alerts are set for ${alerting.join(', ')}, but ${why}: no score and no target reaches Prometheus, and no alert can fire. ` +
        (options.emit.metrics ? `Register a meter provider: ${register}.` : 'Leave emit.metrics on.'),
    )
  }

  /** Writes attributes to the agent's span, or to the copy for `next`; false if neither is possible any more. */
  #writeToSpan(target: SpanOutput, attributes: ScoreAttributes): boolean {
    if (!this.#parts.options.emit.attributes || (target.spanContext.traceFlags & TraceFlags.SAMPLED) === 0) return false
    return this.#parts.reporter.guard('Writing to a span', () => target.stamp(attributes)) ?? false
  }
}

/** Where scores go, and which destinations are missing. */
function describeDestinations({ emit, next }: ResolvedOptions, providers: EmissionProviders): string {
  const hasTracer = providers.tracerProvider() !== undefined
  const spans = [
    ...(emit.attributes ? ["attributes of the agent's span"] : []),
    ...(emit.lateSpans === 'never'
      ? []
      : [hasTracer ? 'late spans' : 'no late spans (no tracer provider is registered)']),
  ]
  const events = providers.loggerProvider()
    ? 'log events gen_ai.evaluation.result'
    : 'no events (no logger provider is registered)'
  const metrics = providers.meterProvider() ? 'metrics spanscore.*' : 'no metrics (no meter provider is registered)'
  const judged = next === undefined ? 'judge scores on late spans, no processor behind holds agent spans' : undefined
  return [
    'Scores go to:',
    [
      spans.join(', ') || 'no spans (emit)',
      emit.events ? events : 'no events (emit)',
      emit.metrics ? metrics : 'no metrics (emit)',
    ].join('; '),
    ...(judged === undefined ? [] : [`(${judged})`]),
  ].join(' ')
}

/** The ledger, the metrics and later revisions read an evaluation again. Details stay as they are, because they are the scorer's own. */
function freezeEvaluation(evaluation: Evaluation): void {
  const { judge, score, scorer } = evaluation
  for (const part of [evaluation, scorer, scorer.range, score, judge, judge?.usage]) Object.freeze(part)
}

import { TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import { emittedScores, placeOfCall } from './emitted-scores.ts'
import type { EmittedScore } from './emitted-scores.ts'
import type { ScoreAttributes } from '../attributes/attribute-table.ts'
import { eventAttributes } from '../attributes/event-attributes.ts'
import type { ExplanationPolicy, ExplanationRules } from '../attributes/explanation-rules.ts'
import { lateSpanAttributes } from '../attributes/late-span-attributes.ts'
import { isSilent } from '../attributes/score-attributes.ts'
import { idsOfScore } from './score-ids.ts'
import type { SpanSet } from './score-ids.ts'
import type { ScoreMetrics } from './score-metrics.ts'
import { NO_ATTRIBUTES } from './metric-sums.ts'

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
   * Adds what failing runs may have in common to the metrics: traits of the runs, what agents are made of, and trace ids of failing runs.
   * [At most 128 series](../in-common.md#in-metrics-and-messages) for each scorer of an agent.
   *
   * @default true
   */
  readonly traits: boolean
  /**
   * Whose explanations and findings leave the process: those of all scorers, of code scorers only, or none.
   *
   * @default 'all'
   */
  readonly explanations: ExplanationPolicy
}

/** One evaluation that is to be written, and where it belongs. */
export interface Emission {
  /** The result of a scorer for a run. */
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
  /** Present if every process that computes these scores gives them the same identity, which follows from the spans of the run. */
  readonly spans?: SpanSet
}

/** One score that is to be written as an event, a late span, or both: that of a run, or of one of its calls. */
export interface PreparedScore {
  /** The evaluation of the run, or of the call alone. */
  readonly evaluation: Evaluation
  /** The span that the score belongs to. */
  readonly target: SpanContext
  /** When the run ended, with the precision of its span. */
  readonly endTime: readonly [number, number]
  /** The id of the late span, if every process gives it the same: 16 hex digits. */
  readonly lateSpanId: string | undefined
  /** Whether an event is written. */
  readonly isEvent: boolean
  /** Whether a late span is written. */
  readonly isLateSpan: boolean
  /** Attributes of the event and the late span. A sink that passes them on to code of the application copies them first. */
  readonly attributes: ScoreAttributes
  /** Further attributes of the late span; those of the event take precedence. Empty if no late span is written. */
  readonly ofLateSpan: ScoreAttributes
  /** Milliseconds since the epoch. */
  readonly verdictTimeMs: number
}

/** What a score is prepared of. */
export interface ScoreSource extends Pick<Emission, 'run' | 'target' | 'endTime' | 'extra' | 'spans'> {
  readonly rules: ExplanationRules
  /** Milliseconds since the epoch. */
  readonly verdictTimeMs: number
}

/** What is written of one score, whatever form it is written in: to a provider, as JSON, or in protobuf. */
export function prepareScore(
  { evaluation, call }: EmittedScore,
  { run, target, endTime, extra, spans, rules, verdictTimeMs }: ScoreSource,
  { isEvent, isLateSpan }: Pick<PreparedScore, 'isEvent' | 'isLateSpan'>,
): PreparedScore {
  const ids = spans && idsOfScore(target, evaluation.scorer, spans, { run, call: call?.index })
  return {
    evaluation,
    target: call === undefined ? target : { ...target, ...placeOfCall(target, call) },
    endTime,
    lateSpanId: ids?.spanId,
    isEvent,
    isLateSpan,
    attributes: eventAttributes(evaluation, run, { rules, verdictTimeMs, extra, call, ids }),
    ofLateSpan: isLateSpan ? lateSpanAttributes(evaluation, rules) : NO_ATTRIBUTES,
    verdictTimeMs,
  }
}

/** Writes events and late spans. */
export interface ScoreSink {
  /** Whether events can be written now. */
  takesEvents(): boolean
  /** Writes the event and the late span of a score. Never throws. */
  write(score: PreparedScore): void
}

/** What an emitter needs. */
export interface EmitterParts {
  readonly options: EmitOptions & ExplanationRules
  readonly sink: ScoreSink
  readonly metrics: ScoreMetrics
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
}

/** Writes evaluations as events, late spans and metrics. The processor writes the attributes of live spans, because it has the span. */
export class Emitter {
  readonly #options: EmitterParts['options']
  readonly #sink: ScoreSink
  readonly #metrics: ScoreMetrics
  readonly #nowMs: () => number

  constructor({ options, sink, metrics, nowMs }: EmitterParts) {
    this.#options = options
    this.#sink = sink
    this.#metrics = metrics
    this.#nowMs = nowMs
  }

  /** Writes every enabled signal. Errors stay separate: if the meter provider throws, event and late span are still written. */
  emit(emission: Emission): void {
    const { evaluation, run, counted } = emission
    if (counted && this.#options.metrics) this.#metrics.record(emission)
    if (run === undefined || isSilent(evaluation)) return
    for (const score of emittedScores(evaluation)) {
      const isEvent = this.#wantsEvent(score.evaluation) && this.#sink.takesEvents()
      const isLateSpan = this.#wantsLateSpan(emission, score.call !== undefined)
      if (!isEvent && !isLateSpan) continue
      const source = { ...emission, rules: this.#options, verdictTimeMs: this.#nowMs() }
      this.#sink.write(prepareScore(score, source, { isEvent, isLateSpan }))
    }
  }

  #wantsEvent({ score }: Evaluation): boolean {
    return this.#options.events && score.status !== 'skipped'
  }

  /** The agent's span has the scores of calls only in sum. */
  #wantsLateSpan({ isOnSpan, target }: Emission, isOfCall: boolean): boolean {
    const { lateSpans } = this.#options
    if (lateSpans === 'never' || (target.traceFlags & TraceFlags.SAMPLED) === 0) return false
    return lateSpans === 'always' || isOfCall || !isOnSpan
  }
}

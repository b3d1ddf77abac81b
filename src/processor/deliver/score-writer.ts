import { TraceFlags } from '@opentelemetry/api'

import { BoundedNames } from '../../emit/bounded-names.ts'
import type { Emitter } from '../../emit/emitter.ts'
import { isSilent, scoreAttributes } from '../../emit/score-attributes.ts'
import type { ScoreAttributes } from '../../emit/score-attributes.ts'
import { NO_ATTRIBUTES } from '../../emit/score-sums.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { Ledger } from '../../scoring/ledger.ts'
import type { Evaluation } from '../../model/score.ts'
import { isRecord } from '../../spans/json.ts'
import { reportFailure, reportMissingJudge } from '../notices/judge-notices.ts'
import type { ResolvedOptions } from '../config/options.ts'
import { putScores } from './replace-score-attributes.ts'
import type { Reporter } from '../run/reporter.ts'
import type { ScoredRun } from '../run/scored-run.ts'
import type { OpenSpan } from '../sdk-types.ts'

/** The SDK's default limit: an attribute over it would be counted as dropped. */
const ATTRIBUTE_COUNT_LIMIT = 128

/** Values of a metric attribute that are told apart. */
const MAX_VALUES = 50

/** Characters of such a value that are kept. */
const MAX_VALUE_LENGTH = 256

/** What a score writer writes to. */
export interface ScoreWriterParts {
  readonly options: ResolvedOptions
  readonly emitter: Emitter
  readonly ledger: Ledger
  readonly reporter: Reporter
  /** Called at the first score: says where scores go. */
  readonly onFirstScore: () => void
}

/** Books one evaluation in the ledger and writes it to every signal. */
export class ScoreWriter {
  readonly #parts: ScoreWriterParts
  readonly #values = new Map<string, BoundedNames>()
  #hasScored = false

  constructor(parts: ScoreWriterParts) {
    this.#parts = parts
  }

  /** @param run Absent where the run was left out before it was put together. */
  write(scored: ScoredRun, evaluation: Evaluation, run: AgentRun | undefined, counted = true): void {
    const { ledger, options, reporter } = this.#parts
    if (counted) ledger.settled(evaluation.scorer.id, evaluation.score)
    reporter.guard('Writing a score', () => this.#emit(scored, evaluation, run, counted))
    const { onScore } = options
    const { score, scorer } = evaluation
    reportFailure(evaluation, reporter)
    if (score.status === 'skipped' && score.reason === 'judge-unavailable') {
      const model = options.scorers.find(({ id }) => id === scorer.id)?.scorer.judge?.model ?? ''
      reportMissingJudge(scorer.id, model, score.messageWithoutContent ?? 'onScore has the reason.', reporter)
    }
    if (onScore !== undefined && run !== undefined && !isSilent(evaluation)) {
      reporter.callBack('onScore', () => onScore(evaluation, run))
    }
  }

  #emit(scored: ScoredRun, evaluation: Evaluation, run: AgentRun | undefined, counted: boolean): void {
    const { emitter, options } = this.#parts
    if (evaluation.score.status === 'scored' && !this.#hasScored) {
      this.#hasScored = true
      this.#parts.onFirstScore()
    }
    emitter.emit({
      evaluation,
      run,
      target: scored.target,
      endTime: scored.live.span.endTime,
      stands: this.#stands(scored, scoreAttributes(evaluation, options.emit)),
      counted,
      extra: this.#extra(scored),
    })
  }

  #stands(scored: ScoredRun, attributes: ScoreAttributes): boolean {
    return this.#parts.reporter.guard('Writing to a span', () => this.#stand(scored, attributes)) ?? false
  }

  /** Writes attributes to the agent's span, or to what is handed to `next` of it; false where neither can be had any more. */
  #stand(scored: ScoredRun, attributes: ScoreAttributes): boolean {
    const { emit, next } = this.#parts.options
    const isSampled = (scored.target.traceFlags & TraceFlags.SAMPLED) !== 0
    if (!emit.attributes || scored.live.bare || !isSampled) return false
    if (scored.writable !== undefined && setAll(scored.writable, attributes)) return true
    if (next === undefined) return false
    if (scored.isHandedOn) return scored.held?.stamp(attributes) ?? false
    putScores(scored.forNext, attributes)
    scored.hasScoresForNext = true
    return true
  }

  #extra(scored: ScoredRun): ScoreAttributes {
    if (this.#parts.options.metricAttributes.length === 0) return NO_ATTRIBUTES
    const extra: ScoreAttributes = {}
    const { span } = scored.live
    for (const name of this.#parts.options.metricAttributes) {
      const given = span.attributes[name] ?? span.resource.attributes[name]
      if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') continue
      const value = typeof given === 'string' ? given.slice(0, MAX_VALUE_LENGTH) : given
      const known = this.#values.get(name) ?? new BoundedNames(MAX_VALUES)
      this.#values.set(name, known)
      extra[name] = known.of(String(value)) === String(value) ? value : 'other'
    }
    return extra
  }
}

/** All of the attributes, or none where the span's limit would drop one. */
function setAll(span: OpenSpan, attributes: ScoreAttributes): boolean {
  const names = Object.keys(attributes)
  if (span.droppedAttributesCount > 0) return false
  if (Object.keys(span.attributes).length + names.length > attributeLimitOf(span)) return false
  for (const name of names) {
    const value = attributes[name]
    if (value !== undefined) span.setAttribute(name, value)
  }
  return names.every((name) => span.attributes[name] !== undefined)
}

/** The property is private in all SDK lines; there is no public way to ask a span for its limits. */
function attributeLimitOf(span: OpenSpan): number {
  const limits: unknown = Reflect.get(span, '_spanLimits')
  const limit = isRecord(limits) ? limits['attributeCountLimit'] : undefined
  return typeof limit === 'number' ? limit : ATTRIBUTE_COUNT_LIMIT
}

import type { Evaluation } from '../model/score.ts'
import type { ScoreAttributes } from './attribute-table.ts'
import { explanationOf } from './explanation-rules.ts'
import type { ExplanationRules } from './explanation-rules.ts'
import { addScore } from './score-attributes.ts'

/** Attributes that a late span has besides those of the event. */
export function lateSpanAttributes(evaluation: Evaluation, rules: ExplanationRules): ScoreAttributes {
  const attributes = addScore({ 'gen_ai.operation.name': 'evaluation' }, evaluation, rules)
  return evaluation.scorer.level === 'conversation' ? addSession(attributes, evaluation, rules) : attributes
}

/** How OpenInference writes the evaluation of a session (`spec/annotations.md`). */
function addSession(attributes: ScoreAttributes, evaluation: Evaluation, rules: ExplanationRules): ScoreAttributes {
  const { scorer, score } = evaluation
  attributes['openinference.span.kind'] = 'EVALUATOR'
  if (score.status !== 'scored') return attributes
  const prefix = 'session.evaluations.0.evaluation'
  attributes[`${prefix}.name`] = scorer.id
  attributes[`${prefix}.score`] = score.value
  attributes[`${prefix}.label`] = score.label
  const explanation = explanationOf(evaluation, rules)
  if (explanation !== undefined) attributes[`${prefix}.explanation`] = explanation
  attributes[`${prefix}.annotator_kind`] = scorer.kind === 'judge' ? 'LLM' : 'CODE'
  return attributes
}

import type { AgentRun } from '../model/agent-run.ts'
import type { CallScore, Evaluation } from '../model/score.ts'
import { addScore, explanationOf, MAX_NAME_LENGTH, shortened } from './score-attributes.ts'
import type { ExplanationRules, ScoreAttributes } from './score-attributes.ts'
import { NO_ATTRIBUTES } from './score-sums.ts'

/** What an event's attributes depend on besides the evaluation and its run. */
export interface EventDetails {
  readonly rules: ExplanationRules
  /** When the verdict was reached: milliseconds since the epoch. */
  readonly verdictTimeMs: number
  /** Attributes that `metricAttributes` copies from the resource or the agent span. */
  readonly extra: Readonly<ScoreAttributes>
  /** The call to which the score belongs, if it is not the run's. */
  readonly call?: CallScore | undefined
  /** Attributes that identify the score. They take precedence over those that are copied. */
  readonly identity?: Readonly<ScoreAttributes> | undefined
}

/**
 * Attributes of `gen_ai.evaluation.result`, and of the late span: those of the GenAI semantic conventions
 * (`docs/gen-ai/gen-ai-events.md`), and ours. `attribute-docs.ts` says what each means. `otlp/stored-scores.ts` reads some of them back.
 *
 * @experimental The conventions' evaluation event is in development.
 */
export function eventAttributes(
  evaluation: Evaluation,
  run: AgentRun | undefined,
  details: EventDetails,
): ScoreAttributes {
  const { score, scorer, judge } = evaluation
  const attributes: ScoreAttributes = {
    'gen_ai.evaluation.name': scorer.id,
  }
  // The most important attributes come first, because a limit on attributes drops the last.
  if (score.status === 'scored') {
    attributes['gen_ai.evaluation.score.value'] = score.value
    attributes['gen_ai.evaluation.score.label'] = score.label
    const explanation = explanationOf(evaluation, details.rules)
    if (explanation !== undefined) attributes['gen_ai.evaluation.explanation'] = explanation
  } else if (score.status === 'failed') {
    attributes['error.type'] = score.code
  }
  if (run) {
    // Names and ids are the application's, and may be of any length.
    const { agent, conversationId } = run
    if (agent.name !== undefined) {
      const name = shortened(agent.name, MAX_NAME_LENGTH)
      attributes['gen_ai.agent.name'] = name
      // Logfire's live view of evaluations shows only results that name their target.
      attributes['gen_ai.evaluation.target'] = name
    }
    if (conversationId !== undefined) attributes['gen_ai.conversation.id'] = shortened(conversationId, MAX_NAME_LENGTH)
    if (run.conversation !== undefined) {
      if (conversationId !== undefined) attributes['session.id'] = shortened(conversationId, MAX_NAME_LENGTH)
      attributes['spanscore.turns'] = run.conversation.turns.length
    }
    const responseId = details.call === undefined ? lastResponseId(run) : undefined
    if (responseId !== undefined) attributes['gen_ai.response.id'] = shortened(responseId, MAX_NAME_LENGTH)
  }
  if (scorer.level !== 'run') attributes['spanscore.level'] = scorer.level
  if (details.call !== undefined) addCall(attributes, scorer.level, details.call)
  attributes['gen_ai.evaluation.evaluator.id'] = scorer.id
  attributes['gen_ai.evaluation.evaluator.version'] = scorer.version
  attributes['gen_ai.evaluation.evaluator.type'] = EVALUATOR_TYPES[scorer.kind]
  attributes['spanscore.score.min'] = scorer.range[0]
  attributes['spanscore.score.max'] = scorer.range[1]
  attributes['spanscore.score.better'] = scorer.better
  attributes['spanscore.complete'] = evaluation.complete
  attributes['spanscore.revision'] = evaluation.revision
  const { probability, upstreamProbability } = evaluation
  if (probability !== undefined) attributes['spanscore.probability'] = probability
  if (upstreamProbability !== undefined) attributes['spanscore.upstream_probability'] = upstreamProbability
  if (run) {
    attributes['spanscore.verdict_delay_ms'] = Math.max(0, Math.round(details.verdictTimeMs - run.endTimeMs))
  }
  if (judge) {
    attributes['spanscore.judge.model'] = judge.model
    const { inputTokens, outputTokens } = judge.usage
    if (inputTokens !== undefined) attributes['spanscore.judge.input_tokens'] = inputTokens
    if (outputTokens !== undefined) attributes['spanscore.judge.output_tokens'] = outputTokens
    if (judge.costUsd !== undefined) attributes['spanscore.judge.cost_usd'] = judge.costUsd
  }
  addMissing(attributes, details.identity)
  addMissing(attributes, details.extra)
  return attributes
}

function addCall(
  attributes: ScoreAttributes,
  level: Evaluation['scorer']['level'],
  { name, toolCallId }: CallScore,
): void {
  if (level !== 'tool-call') return
  if (name !== undefined) attributes['gen_ai.tool.name'] = shortened(name, MAX_NAME_LENGTH)
  if (toolCallId !== undefined) attributes['gen_ai.tool.call.id'] = shortened(toolCallId, MAX_NAME_LENGTH)
}

/** The kinds of evaluators by the names that semantic-conventions-genai#359 proposes. */
const EVALUATOR_TYPES = { code: 'deterministic', judge: 'llm_judge' } as const

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

function addMissing(attributes: ScoreAttributes, more: Readonly<ScoreAttributes> = NO_ATTRIBUTES): void {
  for (const name in more) attributes[name] ??= more[name] ?? ''
}

function lastResponseId({ steps }: AgentRun): string | undefined {
  for (let index = steps.length - 1; index >= 0; index--) {
    const responseId = steps[index]?.responseId
    if (responseId !== undefined) return responseId
  }
  return undefined
}

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import { explanationOf, MAX_NAME_LENGTH, shortened } from './score-attributes.ts'
import type { ExplanationRules, ScoreAttributes } from './score-attributes.ts'

/** What an event's attributes depend on besides the evaluation and its run. */
export interface EventDetails {
  readonly rules: ExplanationRules
  /** When the verdict was reached: milliseconds since the epoch. */
  readonly verdictTimeMs: number
  /** Attributes that `metricAttributes` copies from the resource or the agent span. */
  readonly extra: Readonly<ScoreAttributes>
}

/**
 * Attributes of `gen_ai.evaluation.result`, and of the late span: those of the GenAI semantic conventions
 * (`docs/gen-ai/gen-ai-events.md`), and ours.
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
    set(attributes, 'gen_ai.evaluation.explanation', explanationOf(evaluation, details.rules))
  } else if (score.status === 'failed') {
    attributes['error.type'] = score.code
  }
  if (run) {
    set(attributes, 'gen_ai.agent.name', short(run.agent.name))
    set(attributes, 'gen_ai.conversation.id', short(run.conversationId))
    const { responseId } = run.steps.findLast((step) => step.responseId !== undefined) ?? {}
    set(attributes, 'gen_ai.response.id', short(responseId))
  }
  attributes['spanscore.scorer.version'] = scorer.version
  attributes['spanscore.scorer.kind'] = scorer.kind
  attributes['spanscore.score.min'] = scorer.range[0]
  attributes['spanscore.score.max'] = scorer.range[1]
  attributes['spanscore.score.better'] = scorer.better
  attributes['spanscore.complete'] = evaluation.complete
  attributes['spanscore.revision'] = evaluation.revision
  set(attributes, 'spanscore.probability', evaluation.probability)
  set(attributes, 'spanscore.upstream_probability', evaluation.upstreamProbability)
  if (run) {
    attributes['spanscore.verdict_delay_ms'] = Math.max(0, Math.round(details.verdictTimeMs - run.endTimeMs))
  }
  if (judge) {
    attributes['spanscore.judge.model'] = judge.model
    set(attributes, 'spanscore.judge.input_tokens', judge.usage.inputTokens)
    set(attributes, 'spanscore.judge.output_tokens', judge.usage.outputTokens)
    set(attributes, 'spanscore.judge.cost_usd', judge.costUsd)
  }
  for (const name in details.extra) attributes[name] ??= details.extra[name] ?? ''
  return attributes
}

/** Shortens a name or id of the application, which may have any length. */
function short(text: string | undefined): string | undefined {
  return text === undefined ? undefined : shortened(text, MAX_NAME_LENGTH)
}

function set(attributes: ScoreAttributes, name: string, value: string | number | undefined): void {
  if (value !== undefined) attributes[name] = value
}

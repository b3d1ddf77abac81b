import type { AgentRun } from '../model/agent-run.ts'
import type { CallScore, Evaluation } from '../model/score.ts'
import { readAttribute } from './attribute-table.ts'
import type { AttributeValues, ReadAttribute, ScoreAttributes } from './attribute-table.ts'
import { explanationOf, findingsTextOf, MAX_NAME_LENGTH, shortened } from './explanation-rules.ts'
import type { ExplanationRules } from './explanation-rules.ts'
import { addFound } from './score-attributes.ts'

/** The name of the event of a score, and of what users and other tools say. */
export const EVENT_NAME = 'gen_ai.evaluation.result'

/** Whether an event, or a log record, of this name is a score, or what users and other tools say. */
export function isEvaluation(eventName: unknown): boolean {
  return eventName === EVENT_NAME
}

/** The severity of an event. */
export interface Severity {
  /** `SeverityNumber` of OTLP: 9 is `INFO`, 13 is `WARN`. */
  readonly severityNumber: number
  /** Its name. */
  readonly severityText: string
}

/** The same for scores and for feedback. */
export const INFO: Severity = { severityNumber: 9, severityText: 'INFO' }
const WARN: Severity = { severityNumber: 13, severityText: 'WARN' }

/** The severity of a score's event: WARN if scoring failed. */
export function severityOf({ score }: Evaluation): Severity {
  return score.status === 'failed' ? WARN : INFO
}

/**
 * The attributes of `gen_ai.evaluation.result`, and of the late span: those of the GenAI semantic conventions
 * (`docs/gen-ai/gen-ai-events.md`), and ours. `eventAttributes` writes them, `readEventAttribute` reads them back from files, and the
 * reference is made of them.
 *
 * @experimental The conventions' evaluation event is in development.
 */
export const EVENT_ATTRIBUTES = {
  'gen_ai.evaluation.name': { type: 'string', doc: 'The id of the scorer.' },
  'gen_ai.evaluation.score.value': { type: 'double', doc: "The score, in the scorer's own units." },
  'gen_ai.evaluation.score.label': { type: 'string', doc: '`pass` or `fail`.' },
  'gen_ai.evaluation.explanation': {
    type: 'string',
    doc: 'The reason for the score, if `emit.explanations` allows it.',
  },
  'spanscore.findings': {
    type: 'string',
    doc: 'What the scorer found, with the places in the run, as JSON: a list of `Finding`; like the explanation, if `emit.explanations` allows it, and never with `stripContent`. At most 4,096 characters, the bad ones first.',
  },
  'error.type': { type: 'string', doc: 'The code of a failed score: see [reasons.md](reasons.md).' },
  'gen_ai.agent.name': { type: 'string', doc: 'The name of the agent.' },
  'gen_ai.evaluation.target': { type: 'string', doc: 'The name of the agent, which Logfire shows as the target.' },
  'gen_ai.conversation.id': { type: 'string', doc: 'The conversation that the run belongs to.' },
  'session.id': { type: 'string', doc: 'The conversation that was scored; only with scores of conversations.' },
  'spanscore.turns': { type: 'int', doc: 'The turns of the conversation that was scored.' },
  'gen_ai.response.id': { type: 'string', doc: "The id of the last model call's response, in a score of a run." },
  'spanscore.level': {
    type: 'string',
    doc: 'What the score is about, if it is not the run: `tool-call`, `retrieval`, `conversation`.',
  },
  'gen_ai.tool.name': { type: 'string', doc: 'The tool, in a score of a tool call.' },
  'gen_ai.tool.call.id': { type: 'string', doc: "The model's id of the tool call to which the score belongs." },
  'gen_ai.evaluation.evaluator.id': { type: 'string', doc: 'The id of the scorer.' },
  'gen_ai.evaluation.evaluator.version': { type: 'string', doc: 'Changes if the meaning of the score changes.' },
  'gen_ai.evaluation.evaluator.type': {
    type: 'string',
    doc: '`deterministic` (code) or `llm_judge`; `user` for [feedback](../feedback.md).',
  },
  'spanscore.score.min': { type: 'double', doc: 'The lowest score of the range.' },
  'spanscore.score.max': { type: 'double', doc: 'The highest score of the range.' },
  'spanscore.score.better': { type: 'string', doc: '`higher` or `lower`.' },
  'spanscore.complete': {
    type: 'boolean',
    doc: 'Whether all spans of the run that this process saw had ended. Also on the agent span.',
  },
  'spanscore.revision': {
    type: 'int',
    doc: 'Higher in a score that replaces an earlier one, because spans or their content came after it: 1, then 2; from the service, the number of spans and of those with log records. Also on the agent span.',
  },
  'spanscore.probability': {
    type: 'double',
    doc: 'The probability with which the run was chosen, 0 to 1, if it is known.',
  },
  'spanscore.upstream_probability': {
    type: 'double',
    doc: 'The probability with which an earlier sampler, such as a Collector, kept the trace, 0 to 1, if it is known.',
  },
  'spanscore.verdict_delay_ms': { type: 'int', doc: "Milliseconds between the run's end and the verdict." },
  'spanscore.judge.model': { type: 'string', doc: 'The model that answered.' },
  'spanscore.judge.input_tokens': { type: 'int', doc: 'Input tokens of all judge calls of the score.' },
  'spanscore.judge.output_tokens': { type: 'int', doc: 'Output tokens of all judge calls of the score.' },
  'spanscore.judge.cost_usd': {
    type: 'double',
    doc: 'The cost of all judge calls in US dollars, if the price is known.',
  },
  'spanscore.score.key': {
    type: 'string',
    doc: 'From the service: the same for all revisions of a score. The highest `spanscore.revision` counts.',
  },
  'spanscore.score.id': {
    type: 'string',
    doc: 'From the service: the same for the same scorer and spans. [service.md](../service.md) explains both.',
  },
} as const

/** What may be written of an event. */
export type EventAttributes = AttributeValues<typeof EVENT_ATTRIBUTES>

/** What an event's attributes depend on besides the evaluation and its run. */
export interface EventDetails {
  readonly rules: ExplanationRules
  /** When the verdict was reached: milliseconds since the epoch. */
  readonly verdictTimeMs: number
  /** Attributes that `metricAttributes` copies from the resource or the agent span. */
  readonly extra: Readonly<ScoreAttributes>
  /** The call to which the score belongs, if it is not the run's. */
  readonly call?: CallScore | undefined
  /** Present if every process gives the score the same ids. */
  readonly ids?: { readonly key: string; readonly id: string } | undefined
}

/** The attributes of a score's event. Each is written by a line of its own, because a loop over the table takes six times as long. */
export function eventAttributes(
  evaluation: Evaluation,
  run: AgentRun | undefined,
  details: EventDetails,
): ScoreAttributes {
  const { score, scorer, judge } = evaluation
  const attributes: EventAttributes = { 'gen_ai.evaluation.name': scorer.id }
  // The most important attributes come first, because a limit on attributes drops the last.
  if (score.status === 'scored') {
    attributes['gen_ai.evaluation.score.value'] = score.value
    attributes['gen_ai.evaluation.score.label'] = score.label
    const explanation = explanationOf(evaluation, details.rules)
    if (explanation !== undefined) attributes['gen_ai.evaluation.explanation'] = explanation
    const findings = findingsTextOf(evaluation, details.rules)
    if (findings !== undefined) attributes['spanscore.findings'] = findings
  } else if (score.status === 'failed') {
    attributes['error.type'] = score.code
  }
  if (run) addRun(attributes, run, details.call)
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
  if (details.ids) {
    attributes['spanscore.score.key'] = details.ids.key
    attributes['spanscore.score.id'] = details.ids.id
  }
  return withExtra(addFound(attributes, evaluation), details.extra)
}

/** Names and ids are the application's, and may be of any length. */
function addRun(attributes: EventAttributes, run: AgentRun, call: CallScore | undefined): void {
  const { agent, conversationId, conversation } = run
  if (agent.name !== undefined) {
    const name = shortened(agent.name, MAX_NAME_LENGTH)
    attributes['gen_ai.agent.name'] = name
    // Logfire's live view of evaluations shows only results that name their target.
    attributes['gen_ai.evaluation.target'] = name
  }
  if (conversationId !== undefined) attributes['gen_ai.conversation.id'] = shortened(conversationId, MAX_NAME_LENGTH)
  if (conversation !== undefined) {
    if (conversationId !== undefined) attributes['session.id'] = shortened(conversationId, MAX_NAME_LENGTH)
    attributes['spanscore.turns'] = conversation.turns.length
  }
  const responseId = call === undefined ? lastResponseId(run) : undefined
  if (responseId !== undefined) attributes['gen_ai.response.id'] = shortened(responseId, MAX_NAME_LENGTH)
}

function addCall(
  attributes: EventAttributes,
  level: Evaluation['scorer']['level'],
  { name, toolCallId }: CallScore,
): void {
  if (level !== 'tool-call') return
  if (name !== undefined) attributes['gen_ai.tool.name'] = shortened(name, MAX_NAME_LENGTH)
  if (toolCallId !== undefined) attributes['gen_ai.tool.call.id'] = shortened(toolCallId, MAX_NAME_LENGTH)
}

/** The kinds of evaluators by the names that semantic-conventions-genai#359 proposes. */
const EVALUATOR_TYPES = { code: 'deterministic', judge: 'llm_judge' } as const

function withExtra(attributes: ScoreAttributes, extra: Readonly<ScoreAttributes>): ScoreAttributes {
  for (const name in extra) attributes[name] ??= extra[name] ?? ''
  return attributes
}

function lastResponseId({ steps }: AgentRun): string | undefined {
  return steps.findLast(({ responseId }) => responseId !== undefined)?.responseId
}

/** Reads an attribute of an event or late span; `undefined` if it is absent or of another type. */
export function readEventAttribute<Name extends keyof typeof EVENT_ATTRIBUTES>(
  attributes: Readonly<Record<string, unknown>>,
  name: Name,
): ReadAttribute<(typeof EVENT_ATTRIBUTES)[Name]> {
  return readAttribute(EVENT_ATTRIBUTES[name], attributes[name])
}

/** An attribute that spanscore writes. */
export interface AttributeDoc {
  readonly type: 'string' | 'double' | 'int' | 'boolean'
  readonly doc: string
}

/** Attributes of the agent's span, or of the late span. The key is the part after `spanscore.<id>.`. */
export const scoreAttributeDocs: Readonly<Record<string, AttributeDoc>> = {
  score: { type: 'double', doc: "The score, in the scorer's own units." },
  label: { type: 'string', doc: '`pass` or `fail`, by the pass mark.' },
  calls: { type: 'int', doc: "How many calls have a score, of a scorer of calls; only on the agent's span." },
  calls_failed: { type: 'int', doc: 'How many of these calls fail.' },
  version: { type: 'string', doc: "The scorer's version, 8 characters; only on the agent's span." },
  explanation: { type: 'string', doc: 'The explanation, 1,024 characters at most, if `emit.explanations` allows it.' },
  status: { type: 'string', doc: '`skipped` or `failed`, if there is no score.' },
  status_reason: { type: 'string', doc: 'The reason or the code: see [reasons.md](reasons.md).' },
  status_message: {
    type: 'string',
    doc: 'What happened and what to do. Content in it is left out unless `emit.explanations` allows it.',
  },
}

/** Attributes of the `gen_ai.evaluation.result` event, and of the late span, without those of `scripts/docs-reference/events-page.ts`. */
export const eventAttributeDocs: Readonly<Record<string, AttributeDoc>> = {
  'gen_ai.evaluation.name': { type: 'string', doc: 'The id of the scorer.' },
  'gen_ai.evaluation.score.value': { type: 'double', doc: "The score, in the scorer's own units." },
  'gen_ai.evaluation.score.label': { type: 'string', doc: '`pass` or `fail`.' },
  'gen_ai.evaluation.explanation': {
    type: 'string',
    doc: 'The reason for the score, if `emit.explanations` allows it.',
  },
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
  'error.type': { type: 'string', doc: 'The code of a failed score: see [reasons.md](reasons.md).' },
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
  'spanscore.revision': { type: 'int', doc: '2 if spans came after the first score, else 1. Also on the agent span.' },
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
}

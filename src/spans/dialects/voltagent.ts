import type { Dialect, SpanOutcome, SpanRole } from '../dialect.ts'
import { asideKind } from '../asides.ts'
import { retrievalOfKind, toDocuments } from '../content/documents.ts'
import { numberOf, parseJson, textOf, toJsonText } from '../json.ts'
import { systemTextOf, textMessage, toMessages } from '../content/messages.ts'
import { outcomeOf } from '../outcome.ts'
import { makeUsage } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'

/**
 * VoltAgent: scope `@voltagent/core`, `entity.type` and `span.type`. One model span covers the whole loop and only has the first prompt;
 * the tool spans have what happened in between. A sub-agent's `entity.name` is its parent's.
 */
export const voltAgent: Dialect = {
  name: 'voltagent',
  toolSpans: 'always',

  namespaces: ['voltagent.'],
  recognises: (scopeName, attributes) =>
    scopeName === '@voltagent/core' || attributes['voltagent.operation_id'] !== undefined,

  roleOf(span): SpanRole {
    const type = span.attributes['span.type']
    if (typeof type === 'string') return TYPES.get(type) ?? 'step'
    const entity = span.attributes['entity.type']
    return entity === 'agent' ? 'agent' : entity === 'workflow' ? 'entry' : 'step'
  },

  aside: (span) => asideKind(span.attributes['span.type']),

  agent(span) {
    const { attributes } = span
    const name = textOf(attributes['subagent.name']) ?? textOf(attributes['entity.name'])
    const id = textOf(attributes['subagent.id']) ?? textOf(attributes['entity.id'])
    if (name === undefined && id === undefined) return undefined
    return { ...(name !== undefined && { name }), ...(id !== undefined && { id }) }
  },

  conversationKeys: ['conversation.id', 'voltagent.conversation_id'],

  systemInstructions(span) {
    const written = textOf(span.attributes['agent.instructions'])
    return withoutEnvelope(written ?? systemTextOf(messagesOf(span)))
  },

  input(span) {
    const given = span.attributes.input
    const text = textOf(given)
    const messages = text?.startsWith('[') === true ? toMessages(text) : undefined
    return messages ?? messagesOf(span) ?? (text === undefined ? undefined : [textMessage('user', text)])
  },

  output(span) {
    const { output } = span.attributes
    const text = output === undefined ? undefined : toJsonText(output)
    return text === undefined || text === '' ? undefined : [textMessage('assistant', text)]
  },

  // The model's own calls are not recorded.
  toolCalls: () => [],

  // A call that waits for an approval has no span.
  mayHideCalls: (span) => span.attributes['llm.finish_reason'] === ASKED,
  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    const isOpen = span.attributes['ai.response.finish_reason'] === ASKED && outcome.error === undefined
    return isOpen ? { status: 'unknown' } : outcome
  },

  toolDefinitions(span) {
    const names = textOf(span.attributes['llm.tools'])
    return names?.split(',').map((name) => ({ name: name.trim() }))
  },

  model(span) {
    const model = textOf(span.attributes['llm.model']) ?? textOf(span.attributes['ai.model.name'])
    const finishReason = textOf(span.attributes['llm.finish_reason'])
    return {
      ...(model !== undefined && { model }),
      ...(finishReason !== undefined && { finishReasons: [finishReason] }),
    }
  },

  // The model's span only has the last step's tokens; the agent's has the sum.
  usage(span) {
    const read = (name: string): number | undefined => numberOf(span.attributes[`usage.${name}`])
    return makeUsage(
      read('prompt_tokens'),
      read('completion_tokens'),
      read('cached_tokens'),
      undefined,
      read('reasoning_tokens'),
    )
  },

  tool(span) {
    const name = textOf(span.attributes['tool.name'])
    const id = textOf(span.attributes['tool.call.id'])
    return name === undefined ? undefined : { name, ...(id !== undefined && { id }) }
  },
  toolArguments: (span) => parseJson(span.attributes.input),
  toolResult: (span) => parseJson(span.attributes.output),

  retrieval: (span) => retrievalOfKind(span.attributes['span.type'], () => lastUserText(span) ?? span.attributes.input),
  // A retriever returns documents, or their texts as one.
  documents(span) {
    const { output } = span.attributes
    return toDocuments(output) ?? (typeof output === 'string' ? toDocuments([output]) : undefined)
  },

  // Everything is always recorded, so missing instructions and tools did not exist.
  absence: (_span, fact) =>
    fact === 'systemInstructions' || fact === 'toolDefinitions' ? undefined : { why: 'not-recorded' },

  contentKeys: [
    'input',
    'llm.tools',
    'output',
    'agent.instructions',
    'agent.messages',
    'agent.messages.*',
    'agent.stateSnapshot',
  ].concat(['llm.messages', 'tool.description', 'tool.parameters']),
}

/** The last model call asked for tools: a call waits for an approval, or the loop has reached its limit of steps. */
const ASKED = 'tool-calls'

const TYPES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['agent', 'agent'],
  ['llm', 'model'],
  ['tool', 'tool'],
  ['scorer', 'evaluator'],
])

function messagesOf(span: SourceSpan): ReturnType<typeof toMessages> {
  return toMessages(span.attributes['agent.messages'] ?? span.attributes['llm.messages'])
}

/** A retriever may be given the messages in place of a text. */
function lastUserText({ attributes: { input } }: SourceSpan): string | undefined {
  const messages = typeof input === 'string' && input.startsWith('[') ? toMessages(input) : undefined
  return messages?.findLast(({ role }) => role === 'user')?.text
}

/** VoltAgent wraps a supervisor's own instructions. */
function withoutEnvelope(text: string | undefined): string | undefined {
  if (text?.startsWith('You are a supervisor agent that coordinates') !== true) return text
  return /<instructions>\n([\s\S]*?)\n<\/instructions>/.exec(text)?.[1] ?? text
}

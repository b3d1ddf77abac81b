import { genAi } from '../gen-ai.ts'
import { parseCutJson } from '../../cut-json.ts'
import type { Absence, ContentFact, Dialect, SpanOutcome, SpanRole } from '../../dialect.ts'
import { countIn, parseJson, textOf } from '../../json.ts'
import type { Message } from '../../../model/message.ts'
import { toInstructions, toMessages, toolCallsIn } from '../../content/messages.ts'
import { outcomeOf } from '../../outcome.ts'
import { operationOf, semconvModel, semconvTool, semconvUsage } from '../../semconv.ts'
import type { SourceSpan } from '../../source-span.ts'
import { toToolDefinitions } from '../../content/tool-definitions.ts'
import { CONVERSATION_KEYS, USER_KEYS } from './metadata-keys.ts'

/**
 * Vercel AI SDK 7 through `@ai-sdk/otel`: scope `gen_ai`, the GenAI conventions with differences. Every call of `generateText` and similar
 * functions is an `invoke_agent`, agentic or not; steps are between it and its `chat` and `execute_tool` spans.
 */
export const aiSdkOtel: Dialect = {
  name: 'ai-sdk',
  toolSpans: 'always',
  quirks: { formOfTwo: 'newer', endsWithoutSum: 'error' },

  namespaces: [],
  kindKeys: ['gen_ai.operation.name'],
  recognises: (scopeName) => scopeName === 'gen_ai',
  withoutScope: { readAs: genAi, isShownBy: (span) => operationOf(span.attributes) === 'agent_step' },

  roleOf(span): SpanRole {
    switch (operationOf(span.attributes) ?? span.name.split(' ', 1)[0]) {
      case 'invoke_agent':
        return 'agent'
      case 'chat':
        return 'model'
      case 'execute_tool':
        return 'tool'
      default:
        return 'step'
    }
  },

  aside: (span) => (isDecision(span) ? 'decision' : undefined),

  agent(span) {
    const name = textOf(span.attributes['gen_ai.agent.name'])
    return name === undefined ? undefined : { name }
  },

  conversationKeys: CONVERSATION_KEYS,
  userKeys: USER_KEYS,

  outcome(span): SpanOutcome {
    if (operationOf(span.attributes) === 'execute_tool') {
      return span.attributes['gen_ai.tool.call.result'] === undefined ? outcomeOf(span) : { status: 'ok' }
    }
    if (isDecision(span)) return outcomeOf(span)
    // A completed call has its finish reasons, also without content capture; an aborted one does not. They are more reliable than the
    // status, because OpenInference's processor copies a tool's error to the enclosing spans.
    if (span.attributes['gen_ai.response.finish_reasons'] !== undefined) return { status: 'ok' }
    const outcome = outcomeOf(span)
    return outcome.error === undefined ? { status: 'aborted' } : outcome
  },

  systemInstructions: (span) => toInstructions(span.attributes['gen_ai.system_instructions']),
  input: (span) => toMessages(span.attributes['gen_ai.input.messages']),
  /** On the agent span, one message combines the whole run: its text parts are the answer. */
  output: (span) =>
    toMessages(span.attributes['gen_ai.output.messages'])?.map((message) => withEmptyText(message, span)),
  callsInInput: (span) => countIn(span.attributes['gen_ai.input.messages'], '"tool_call"'),
  // Names and ids in cut-off messages still show the order.
  toolCalls(span) {
    const written = span.attributes['gen_ai.output.messages']
    if (typeof written !== 'string' || written.endsWith(']')) return undefined
    return toolCallsIn(toMessages(parseCutJson(written, 4)))
  },
  // The model wraps arrays and choices in an object; the agent's span does not.
  hasFinalForm: (span) => span.attributes['gen_ai.output.type'] === 'json',
  toolDefinitions: (span) => toToolDefinitions(span.attributes['gen_ai.tool.definitions']),

  model: (span) => semconvModel(span.attributes),
  usage: (span) => semconvUsage(span.attributes),

  tool: (span) => semconvTool(span.attributes),
  toolArguments: (span) => parseJson(span.attributes['gen_ai.tool.call.arguments']),
  toolResult: (span) => parseJson(span.attributes['gen_ai.tool.call.result']),

  absence: (span, fact) => absenceOf(span, fact),
}

/** The text of a completed call that said nothing: it is recorded as a message without parts. */
function withEmptyText(message: Message, { attributes }: SourceSpan): Message {
  const isOver = attributes['gen_ai.response.finish_reasons'] !== undefined
  if (!isOver || message.role !== 'assistant' || message.parts.length > 0) return message
  return { ...message, text: '', parts: [{ type: 'text', content: '' }] }
}

function isDecision({ attributes }: SourceSpan): boolean {
  return operationOf(attributes) === 'decide'
}

function absenceOf(span: SourceSpan, fact: ContentFact): Absence | undefined {
  // If messages were recorded, there were no tools and no system instructions.
  const isOptional = fact === 'systemInstructions' || fact === 'toolDefinitions'
  if (isOptional && span.attributes['gen_ai.input.messages'] !== undefined) return undefined
  // Here, arguments count as inputs of the tool, unlike in the legacy format.
  const outputs = fact === 'output' || fact === 'toolCalls' || fact === 'toolResult'
  return {
    why: 'not-captured',
    switch: `telemetry: { ${outputs ? 'recordOutputs' : 'recordInputs'}: true }`,
  }
}

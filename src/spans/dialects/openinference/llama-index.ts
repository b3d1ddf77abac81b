import type { Message } from '../../../model/message.ts'
import type { Dialect, SpanOutcome, SpanRole } from '../../dialect.ts'
import type { SourceSpan } from '../../source-span.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../../json.ts'
import { flattenedMessages, flattenedPrompts, flattenedTools, shownText } from './content.ts'
import { textMessage } from '../../content/messages.ts'
import { unwrapBlocks } from '../../content/parts.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * LlamaIndex for Python through OpenInference. Spans are named after methods, and most values are Python's print-outs of objects. The
 * flattened attributes have the models' inputs and outputs; the event that sets up the agent has its name.
 */
export const openInferenceLlamaIndex: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'openinference.instrumentation.llama_index',
  withoutScope: {
    readAs: openInference,
    isShownBy: (span) => /Workflow\.|\._prepare_chat/.test(span.name) || isEngine(span),
  },

  roleOf(span): SpanRole {
    // They build the request of the next call, and keep the answer of the last one.
    if (/\._prepare_chat|\.write_response_to_history/.test(span.name)) return 'step'
    // An engine answers also if it finds nothing that it could show to a model.
    if (isEngine(span)) return 'agent'
    const role = openInference.roleOf(span)
    return role === 'entry' && !span.name.endsWith('.run') ? 'step' : role
  },

  agent(span) {
    if (!span.name.endsWith('.setup_agent')) return undefined
    const input = jsonAttribute(span, 'input.value')
    const event = isRecord(input) && typeof input.ev === 'string' ? input.ev : ''
    const name = textOf(/current_agent_name='([^']*)'\)$/.exec(event)?.[1])
    return name === undefined ? undefined : { name }
  },

  systemInstructions: () => undefined,
  input(span) {
    if (kindOf(span) !== 'LLM')
      return isEngine(span) ? asMessage('user', stated(span, 'input.value', 'message')) : undefined
    return flattenedMessages(span.attributes, 'llm.input_messages.') ?? flattenedPrompts(span.attributes)
  },
  output(span) {
    if (kindOf(span) !== 'LLM')
      return isEngine(span) ? asMessage('assistant', stated(span, 'output.value', 'response')) : undefined
    const said = flattenedMessages(span.attributes, 'llm.output_messages.')
    // Models that only complete text.
    const text =
      flattenedPrompts(span.attributes) === undefined ? undefined : shownText(span.attributes['output.value'])
    return said ?? (text === undefined ? undefined : [textMessage('assistant', text)])
  },
  toolDefinitions: (span) => flattenedTools(span.attributes),

  toolArguments(span) {
    const input = parseJson(shownText(span.attributes['input.value']))
    return isRecord(input) && isRecord(input.kwargs) ? input.kwargs : input
  },
  toolResult(span) {
    const output = parseJson(shownText(span.attributes['output.value']))
    if (!isRecord(output) || !('raw_output' in output)) return output
    return isErrorOutput(output) ? undefined : parseJson(output.raw_output)
  },

  outcome(span): SpanOutcome {
    const outcome = openInference.outcome?.(span) ?? { status: 'unknown' }
    const output = kindOf(span) === 'TOOL' ? jsonAttribute(span, 'output.value') : undefined
    if (outcome.error !== undefined || !isRecord(output) || !isErrorOutput(output)) return outcome
    const message = textOf(toJsonText(unwrapBlocks(output.blocks)))
    return { status: 'error', error: message === undefined ? {} : { message } }
  },
}

function isErrorOutput(output: Readonly<Record<string, unknown>>): boolean {
  return output.is_error === true
}

/** A query engine answers a question from documents, a chat engine one of a conversation. The methods that they call have spans inside. */
function isEngine({ name }: SourceSpan): boolean {
  return /(?:QueryEngine\.a?query|ChatEngine\.a?(?:stream_)?chat)$/.test(name)
}

/** What an engine was asked, or answered: a text, or a field of a chat engine's arguments or response. */
function stated(span: SourceSpan, key: string, field: string): unknown {
  if (!span.name.includes('ChatEngine')) return span.attributes[key]
  const value = jsonAttribute(span, key)
  return isRecord(value) ? value[field] : undefined
}

function asMessage(role: string, value: unknown): readonly Message[] | undefined {
  const text = shownText(value)
  return text === undefined ? undefined : [textMessage(role, text)]
}

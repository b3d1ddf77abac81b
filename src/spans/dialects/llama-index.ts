import type { Absence, Dialect, SpanRole } from '../dialect.ts'
import { llamaIndexMessage, llamaIndexMessages } from '../content/llama-index.ts'
import { textMessage } from '../content/messages.ts'
import { parsePythonLiteral } from '../content/python-literal.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'
import { isRecord, numberOf, textOf } from '../json.ts'
import { makeUsage } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'

const SUMMARY = 'llamaindex.step.input_summary'

/**
 * LlamaIndex's own spans for OpenTelemetry (`llama-index-observability-otel`): named after classes and methods, with what models were
 * sent and answered as events. What steps of a workflow were given and returned is what Python prints of it, cut after 200
 * characters: no more is read of it than what is whole.
 */
export const llamaIndex: Dialect = {
  name: 'llama-index',

  namespaces: ['llamaindex.'],
  recognises: (scopeName, attributes) => scopeName === SCOPE || attributes['llamaindex.run_id'] !== undefined,

  roleOf({ name }): SpanRole {
    if (MODEL.test(name)) return 'model'
    if (TOOL.test(name)) return 'tool'
    return RUN.test(name) ? 'entry' : 'step'
  },

  agent(span) {
    if (!span.name.endsWith('.setup_agent')) return undefined
    const name = textOf(/current_agent_name='([^'\\]{1,200})'\)$/.exec(textOf(span.attributes[SUMMARY]) ?? '')?.[1])
    return name === undefined ? undefined : { name }
  },

  input: (span) => llamaIndexMessages(fieldOf(span, STARTED, 'messages')),
  output(span) {
    const answer = ANSWER.exec(textOf(fieldOf(span, 'workflow.output', 'output')) ?? '')?.[1]
    const texts = answer === undefined ? undefined : parsePythonLiteral(`[${answer}]`)
    if (Array.isArray(texts) && typeof texts[0] === 'string') return [textMessage('assistant', texts[0])]
    const said = llamaIndexMessage({
      role: fieldOf(span, ENDED, 'response.message.role'),
      blocks: fieldOf(span, ENDED, 'response.message.blocks'),
      additional_kwargs: { tool_calls: fieldOf(span, ENDED, 'response.message.additional_kwargs.tool_calls') },
    })
    return said === undefined ? undefined : [said]
  },
  toolDefinitions: (span) => toToolDefinitions(fieldOf(span, STARTED, 'additional_kwargs.tools')),

  model(span) {
    const model =
      textOf(fieldOf(span, ENDED, 'response.raw.model')) ?? textOf(fieldOf(span, STARTED, 'model_dict.model_name'))
    const responseId = textOf(fieldOf(span, ENDED, 'response.raw.id'))
    return { ...(model !== undefined && { model }), ...(responseId !== undefined && { responseId }) }
  },
  usage(span) {
    const read = (name: string): number | undefined =>
      numberOf(fieldOf(span, ENDED, `response.raw.usage.${name}`)) ??
      numberOf(fieldOf(span, ENDED, `response.additional_kwargs.${name}`))
    return makeUsage(
      read('prompt_tokens') ?? read('input_tokens'),
      read('completion_tokens') ?? read('output_tokens'),
      read('prompt_tokens_details.cached_tokens'),
      undefined,
      read('completion_tokens_details.reasoning_tokens'),
    )
  },

  tool(span) {
    const call = textOf(span.attributes[SUMMARY]) ?? ''
    const name = CALL.exec(call)?.[1]
    const id = CALL_ID.exec(call)?.[1]
    return name === undefined ? undefined : { name, ...(id !== undefined && { id }) }
  },
  toolArguments(span) {
    const call = parsePythonLiteral(textOf(span.attributes[SUMMARY]) ?? '')
    return isRecord(call) ? call.tool_kwargs : undefined
  },

  absence: (): Absence => ({ why: 'not-recorded' }),

  contentKeys: [SUMMARY, `tags.${SUMMARY}`, 'response.message.*', 'response.raw.choices'],
  ownContentKeys: ['messages', 'output', 'additional_kwargs.tools', 'err_str'],
}

const SCOPE = 'llamaindex.opentelemetry.tracer'
const STARTED = 'LLMChatStartEvent'
const ENDED = 'LLMChatEndEvent'

/** Clients of models, of which `chat` of an engine is none. */
const MODEL = /^(?!\w{0,200}Engine\.)\w{1,200}\.a?(?:stream_)?(?:chat|complete)(?:_with_tools)?$/
const TOOL = /^\w{0,200}Tool\.a?call$/
const RUN = /^\w{1,200}\.run$|^\w{1,200}Engine\.a?(?:query|chat|stream_chat)$/

const CALL = /^ToolCall\(tool_name='([^'\\]{1,200})',/
const CALL_ID = /, tool_id='([^'\\]{1,200})'\)$/
const ANSWER =
  /^StopEvent\(result=AgentOutput\(response=ChatMessage\(role=<MessageRole\.ASSISTANT: 'assistant'>, additional_kwargs=\{\}, blocks=\[TextBlock\(block_type='text', text=('(?:[^'\\]|\\.){0,1000}'|"(?:[^"\\]|\\.){0,1000}")\)\]/

/** A field of the first event of this name. */
function fieldOf(span: SourceSpan, event: string, field: string): unknown {
  return span.events.find(({ name }) => name === event)?.attributes[field]
}

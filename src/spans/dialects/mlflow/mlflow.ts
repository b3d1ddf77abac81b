import { asideKind, middlewareNode } from '../../asides.ts'
import type { Dialect, SpanRole } from '../../dialect.ts'
import { retrievalOfKind, toDocuments } from '../../content/documents.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord, numberOf, textOf, toJsonText } from '../../json.ts'
import { finalAnswer, toolMessageFields, toolMessageIn } from '../../content/langchain.ts'
import { textMessage, toMessages } from '../../content/messages.ts'
import { unwrapBlocks } from '../../content/parts.ts'
import { replyMessages, requestInstructions, requestMessages, requestTools } from '../../content/payloads.ts'
import { makeUsage } from '../../semconv.ts'
import type { SourceSpan } from '../../source-span.ts'
import { toToolDefinitions } from '../../content/tool-definitions.ts'
import type { Message } from '../../../model/message.ts'

export const TYPE = 'mlflow.spanType'
export const INPUTS = 'mlflow.spanInputs'
export const OUTPUTS = 'mlflow.spanOutputs'

/**
 * MLflow Tracing (Databricks), decorators and autologging: `mlflow.spanType` is the kind of span. `mlflow.spanInputs` and
 * `mlflow.spanOutputs` have a function's arguments and return value, or the request and reply of a model's client. All values, also
 * strings, are JSON text.
 */
export const mlflow: Dialect = {
  name: 'mlflow',

  namespaces: ['mlflow.'],
  kindKeys: [TYPE],
  recognises: (scopeName, attributes) =>
    attributes[TYPE] !== undefined ||
    attributes['mlflow.traceRequestId'] !== undefined ||
    scopeName.startsWith('mlflow.'),

  roleOf: (span): SpanRole => (isRunner(span) ? 'entry' : (ROLES.get(typeOf(span)) ?? 'step')),

  aside: (span) => asideKind(typeOf(span)) ?? middlewareNode(span.name),

  // Its agents hand over to one another.
  isSingleRun: (span) => isRunner(span) || span.name === 'Agent workflow',

  agent(span) {
    const role = isRunner(span) ? 'step' : mlflow.roleOf(span)
    // The agents of frameworks are objects, whose fields are attributes.
    const named = role === 'agent' ? quoted(span, 'name') : undefined
    const name = named ?? (role === 'agent' || role === 'entry' ? textOf(span.name) : undefined)
    return name === undefined ? undefined : { name }
  },
  conversationKeys: ['mlflow.trace.session'],
  userKeys: ['mlflow.trace.user'],

  systemInstructions: (span) => requestInstructions(innermost(jsonAttribute(span, INPUTS))),
  input: (span) => toInput(jsonAttribute(span, INPUTS)),
  output(span) {
    const value = unwrapValue(jsonAttribute(span, OUTPUTS))
    if (value === undefined || value === null || value === '') return undefined
    // The OpenAI Agents SDK only records the type of an agent's answer.
    if (isRecord(value) && value.output_type !== undefined && Object.keys(value).length === 1) return undefined
    if (typeof value === 'string') return [textMessage('assistant', value)]
    if (isRecord(value) && Array.isArray(value.messages)) return finalAnswer(value, undefined)
    const reply = replyMessages(value)
    if (reply !== undefined) return reply
    const text = onlyText(value) ?? toJsonText(value)
    return text === undefined ? undefined : [textMessage('assistant', text)]
  },
  transcript(span) {
    const state = jsonAttribute(span, OUTPUTS)
    return isRecord(state) && Array.isArray(state.messages) ? toMessages(state.messages) : undefined
  },
  toolDefinitions: (span) =>
    toToolDefinitions(jsonAttribute(span, 'mlflow.chat.tools')) ?? requestTools(innermost(jsonAttribute(span, INPUTS))),

  model(span) {
    const inputs = jsonAttribute(span, INPUTS)
    const outputs = jsonAttribute(span, OUTPUTS)
    const answered = isRecord(outputs) ? textOf(outputs.model) : undefined
    const asked = quoted(span, 'mlflow.llm.model') ?? quoted(span, 'model')
    const model = answered ?? asked ?? (isRecord(inputs) ? textOf(inputs.model) : undefined)
    const responseId = isRecord(outputs) ? textOf(outputs.id) : undefined
    return { ...(model !== undefined && { model }), ...(responseId !== undefined && { responseId }) }
  },
  usage(span) {
    const counts = jsonAttribute(span, 'mlflow.chat.tokenUsage')
    if (!isRecord(counts)) return undefined
    return makeUsage(
      numberOf(counts.input_tokens),
      numberOf(counts.output_tokens),
      numberOf(counts.cache_read_input_tokens),
      numberOf(counts.cache_creation_input_tokens),
    )
  },

  tool(span) {
    // The call of a tool's class, which shows its name nowhere.
    if (span.name.endsWith('.__call__')) return undefined
    const id = textOf(toolMessageIn(span, OUTPUTS)?.tool_call_id)
    return { name: span.name, ...(id !== undefined && { id }) }
  },
  toolArguments(span) {
    const given = jsonAttribute(span, INPUTS)
    return isRecord(given) && span.name.endsWith('.__call__') && isRecord(given.kwargs) ? given.kwargs : given
  },
  toolResult(span) {
    const value = unwrapValue(jsonAttribute(span, OUTPUTS))
    const message = toolMessageFields(value)
    return message === undefined ? value : unwrapBlocks(message.content)
  },

  retrieval: (span) => retrievalOfKind(typeOf(span), () => jsonAttribute(span, INPUTS)),
  documents: (span) => toDocuments(jsonAttribute(span, OUTPUTS)),

  absence: (span, fact) => {
    const isOptional = fact === 'systemInstructions' || fact === 'toolDefinitions'
    // A question alone does not show that there were none.
    const request = requestMessages(innermost(jsonAttribute(span, INPUTS)))
    return isOptional && request !== undefined ? undefined : { why: 'not-recorded' }
  },

  contentKeys: [INPUTS, OUTPUTS, 'mlflow.chat.tools', 'mlflow.chat.messages', 'mlflow.trace.intermediate_outputs'],
  // Autologging writes each request parameter as an attribute of the same name.
  ownContentKeys: [
    'invocation_params',
    'instructions',
    'system',
    'system_instruction',
    'messages',
    'input',
    'prompt',
    'tools',
    // Attributes of tools and agents that autologging copies.
    'description',
    'toolsets',
    'root_capability',
    'prompt_templates',
  ],
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['AGENT', 'agent'],
  ['CHAIN', 'entry'],
  ['WORKFLOW', 'entry'],
  ['UNKNOWN', 'entry'],
  ['', 'entry'],
  ['LLM', 'model'],
  ['CHAT_MODEL', 'model'],
  ['TOOL', 'tool'],
  ['EVALUATOR', 'evaluator'],
])

/** The span around a run of the OpenAI Agents SDK, which has the type agent and is named after the method. */
function isRunner(span: SourceSpan): boolean {
  return span.name === 'AgentRunner.run'
}

/** Read for every span, so the quotes are removed without parsing. */
export function typeOf(span: SourceSpan): string {
  const type = span.attributes[TYPE]
  if (typeof type !== 'string') return ''
  return type.startsWith('"') ? type.slice(1, -1) : type
}

function quoted(span: SourceSpan, key: string): string | undefined {
  return textOf(jsonAttribute(span, key))
}

/** smolagents' values are wrapped. */
function unwrapValue(value: unknown): unknown {
  const [[key, inner] = ['', undefined], ...others] = isRecord(value) ? Object.entries(value) : []
  return key === '_value' && others.length === 0 ? inner : value
}

/** Whether autologging says that the messages have a library's format. The value may be JSON text. */
export function isFormat(attributes: Readonly<Record<string, unknown>>, format: string): boolean {
  const written = attributes['mlflow.message.format']
  return written === `"${format}"` || written === format
}

/** The inputs of a decorated function are its parameters by name. A single parameter's value is the input. */
function innermost(value: unknown): unknown {
  let inner = value
  for (let depth = 0; depth < 3 && isRecord(inner); depth++) {
    const values = Object.values(inner).filter((item) => item !== null)
    const [only] = values
    if (values.length !== 1 || !isRecord(only)) return inner
    inner = only
  }
  return inner
}

function toInput(written: unknown): readonly Message[] | undefined {
  const value = innermost(written)
  if (typeof value === 'string') return value === '' ? undefined : [textMessage('user', value)]
  const messages = requestMessages(value)
  if (messages !== undefined) return messages
  if (!isRecord(value)) return undefined
  const named = QUESTION_KEYS.map((key) => textOf(value[key])).find((text) => text !== undefined)
  const text = named ?? onlyText(value)
  if (text !== undefined) return [textMessage('user', text)]
  const lists = Object.values(value).filter((item) => Array.isArray(item))
  return lists.length === 1 ? toMessages(lists[0]) : undefined
}

/** Common names of parameters with the question. */
const QUESTION_KEYS = ['question', 'query', 'user_input', 'user_query', 'user_message', 'message', 'prompt', 'text']

/** The text in `{ answer: '…' }`. */
function onlyText(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  const values = Object.values(value)
  return values.length === 1 ? textOf(values[0]) : undefined
}

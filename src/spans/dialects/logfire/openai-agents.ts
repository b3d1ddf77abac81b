import type { Dialect, SpanRole } from '../../dialect.ts'
import { genAi } from '../gen-ai.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord, textOf } from '../../json.ts'
import type { Message } from '../../../model/message.ts'
import { toMessages } from '../../content/messages.ts'
import { outcomeOf } from '../../outcome.ts'
import { replyMessages, requestInstructions, requestMessages, requestTools } from '../../content/payloads.ts'
import { semconvModel, semconvUsage } from '../../semconv.ts'

const TEMPLATE = 'logfire.msg_template'

/**
 * The OpenAI Agents SDK for Python through Logfire. Span names are templates (`Agent run: {name!r}`), and content is the SDK's own: the
 * API's unchanged requests and responses. The agents of a trace are siblings and hand over to one another.
 */
export const logfireOpenAiAgents: Dialect = {
  name: 'logfire-openai-agents',

  namespaces: [TEMPLATE],
  // Files that lost the names of scopes still have the templates.
  recognises: (scopeName, attributes) =>
    scopeName === 'logfire.openai_agents' || (scopeName === '' && isTemplate(attributes[TEMPLATE])),
  withoutScope: { readAs: genAi, isShownBy: ({ attributes }) => isTemplate(attributes[TEMPLATE]) },

  roleOf(span): SpanRole {
    const template = ROLES.find(([beginning]) => span.name.startsWith(beginning))
    return template?.[1] ?? 'step'
  },

  aside: (span) => (span.name.startsWith('Guardrail') ? 'guardrail' : undefined),

  isSingleRun: () => true,

  agent(span) {
    const isNamed = logfireOpenAiAgents.roleOf(span) === 'agent' || span.name.startsWith(TRACE)
    const name = isNamed ? textOf(span.attributes.name) : undefined
    return name === undefined ? undefined : { name }
  },

  conversationKeys: ['group_id'],
  conversationIn: ['response'],

  systemInstructions: (span) => requestInstructions(jsonAttribute(span, 'response')),
  input: (span) =>
    logfireOpenAiAgents.roleOf(span) === 'model'
      ? (requestMessages(jsonAttribute(span, 'raw_input')) ?? toMessages(jsonAttribute(span, 'input')))
      : undefined,
  output: (span) =>
    logfireOpenAiAgents.roleOf(span) === 'model'
      ? (replyMessages(jsonAttribute(span, 'response')) ?? fromChoices(jsonAttribute(span, 'output')))
      : undefined,
  toolDefinitions: (span) => requestTools(jsonAttribute(span, 'response')),

  model(span) {
    const responseId = textOf(span.attributes.response_id)
    return { ...semconvModel(span.attributes), ...(responseId !== undefined && { responseId }) }
  },
  usage: (span) => semconvUsage(span.attributes),

  tool(span) {
    // A hand-off has the agents, but not the name of the call.
    const name = textOf(span.attributes.name) ?? textOf(span.attributes['logfire.msg'])
    return name === undefined ? undefined : { name }
  },
  toolArguments: (span) => given(jsonAttribute(span, 'input')),
  toolResult: (span) => (span.attributes.error === undefined ? given(jsonAttribute(span, 'output')) : undefined),

  // The status has no text; the SDK's error is an attribute.
  outcome(span) {
    const outcome = outcomeOf(span)
    const error = jsonAttribute(span, 'error')
    const message = isRecord(error) ? textOf(error.message) : undefined
    return message === undefined ? outcome : { status: 'error', error: { ...outcome.error, message } }
  },

  absence(span, fact) {
    const [response, input] = ['response', 'input'].map((key) => given(jsonAttribute(span, key)))
    if (fact === 'toolDefinitions')
      return input === undefined && response !== undefined ? undefined : { why: 'not-recorded' }
    if (fact === 'systemInstructions' && (input ?? response) !== undefined) return undefined
    if (response !== undefined) return { why: 'not-recorded' }
    return { why: 'not-captured', switch: 'RunConfig(trace_include_sensitive_data=True)' }
  },

  // `response`, `events` and `error` are left out, because any library's spans may have them. These spans come from Python, where nothing
  // strips them.
  contentKeys: ['input', 'output', 'raw_input', 'request_data', 'logfire.msg'],
  ownContentKeys: ['response', 'events', 'error'],
}

/** Whether this is a template of the SDK's spans. Those of model calls have the templates of their clients. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'string' && ROLES.some(([beginning, role]) => role !== 'model' && value.startsWith(beginning))
}

/** The SDK's trace: around one run, or around those of a flow. */
const TRACE = 'OpenAI Agents trace'

/** The beginnings of the templates. */
const ROLES: readonly (readonly [string, SpanRole])[] = [
  [TRACE, 'entry'],
  ['Task: ', 'entry'],
  ['Agent run', 'agent'],
  ['Responses API', 'model'],
  ['Chat completion', 'model'],
  ['Function', 'tool'],
  ['Handoff', 'handoff'],
]

/** Reads a list of messages; for a chat completions stream, a list with one response in the Responses API's format. */
function fromChoices(value: unknown): readonly Message[] | undefined {
  const only = Array.isArray(value) && value.length === 1 ? (value as readonly unknown[])[0] : undefined
  return isRecord(only) && Array.isArray(only.output) ? replyMessages(only) : toMessages(value)
}

/** Without sensitive data, the value is `null`. */
function given(value: unknown): unknown {
  return value === null ? undefined : value
}

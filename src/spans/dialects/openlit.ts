import type { Dialect, SpanOutcome, SpanRole } from '../dialect.ts'
import { makeMessage, toMessages } from '../content/messages.ts'
import { toToolResponse } from '../content/parts.ts'
import { requestMessages } from '../content/payloads.ts'
import { asWritten, parsePythonFields } from '../content/python-literal.ts'
import { parseJson } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { operationOf } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'
import { genAi } from './gen-ai.ts'

/**
 * OpenLIT for Python and JavaScript: the conventions' attributes for many libraries. What it calls an agent may also be a node of a graph, a method
 * of a flow or a turn. What tools were given and returned is what Python prints of it, LangChain's messages included.
 */
export const openLit: Dialect = {
  ...genAi,
  name: 'openlit',

  namespaces: [],
  recognises: (scopeName) => scopeName.startsWith('openlit.') || scopeName.startsWith('@openlit/'),

  roleOf(span): SpanRole {
    const role = genAi.roleOf(span)
    if (role === 'tool' && isUnnamedFailure(span)) return 'step'
    return role === 'agent' && !isAgent(span) ? 'step' : role
  },
  // The agents in it hand over to one another.
  isSingleRun: (span) => isOf(span, 'openai_agents') && operationOf(span.attributes) === 'invoke_workflow',

  systemInstructions(span, logs) {
    // Of CrewAI an agent's span has no more than its backstory.
    const text = isOf(span, 'crewai') ? undefined : genAi.systemInstructions?.(span, logs)
    return text !== undefined && OBJECT.test(text) ? undefined : text
  },
  input(span, logs) {
    const messages = genAi.input?.(span, logs)?.map(withResponse)
    return messages ?? requestMessages(span.attributes['gen_ai.workflow.input'])
  },
  output(span, logs) {
    const said = genAi.output?.(span, logs)
    const calls = asWritten(span.attributes['gen_ai.response.tool_calls'])
    if (!Array.isArray(calls)) return said
    // Versions before 1.35 print an answer without words as `None`.
    const text = said?.map((message) => message.text ?? '').join('')
    return toMessages([{ role: 'assistant', content: text === 'None' ? null : text, tool_calls: calls }])
  },

  toolArguments: (span) =>
    asWritten(span.attributes['gen_ai.tool.call.arguments'] ?? span.attributes['gen_ai.tool.args']),
  toolResult(span) {
    const written = span.attributes['gen_ai.tool.call.result']
    if (typeof written !== 'string') return written
    return OBJECT.test(written) ? undefined : (contentOfMessage(written) ?? asWritten(written))
  },

  outcome(span): SpanOutcome {
    const outcome = genAi.outcome?.(span) ?? { status: 'unknown' }
    // The type of an error may be all that it said.
    const type = outcome.error?.type
    return type?.includes(' ') === true ? { ...outcome, error: { message: type } } : outcome
  },

  contentKeys: [...(genAi.contentKeys ?? []), 'gen_ai.workflow.input', 'gen_ai.workflow.output'].concat([
    'gen_ai.agent.description',
    'gen_ai.crewai.*',
    'gen_ai.framework.error.message',
  ]),
  ownContentKeys: ['error.type'],
}

/** Whether a span is of the instrumentation for a library, in Python or in JavaScript. */
function isOf({ scope }: SourceSpan, library: string): boolean {
  const name = /^(?:openlit\.instrumentation\.|@openlit\/instrumentation-)(.{1,100})$/.exec(scope.name)?.[1]
  return name?.replaceAll('-', '_') === library
}

/** A node of LangGraph is none, nor is a method of a flow of CrewAI or a turn of the OpenAI Agents SDK, which have no names. */
function isAgent(span: SourceSpan): boolean {
  if (isOf(span, 'langgraph')) return false
  const isNamed = span.attributes['gen_ai.agent.name'] !== undefined
  return isNamed || !(isOf(span, 'crewai') || isOf(span, 'openai_agents'))
}

/** In JavaScript a tool of LangChain has the name of its class, and one that failed not even the id of its call. */
function isUnnamedFailure(span: SourceSpan): boolean {
  return span.attributes['gen_ai.tool.name'] === 'DynamicStructuredTool' && span.status.code === 'error'
}

/** JavaScript writes what a tool returned as a text that the tool said. */
function withResponse(message: Message): Message {
  const [part, ...others] = message.parts
  if (message.role !== 'tool' || part?.type !== 'text' || others.length > 0) return message
  return makeMessage('tool', [toToolResponse(undefined, part.content)])
}

/** What JavaScript prints of an object in place of its value. */
const OBJECT = /^\[object \w{1,100}\]$/

/** LangChain's message as Python prints it, `content='…' name='…' tool_call_id='…'`: its content. */
function contentOfMessage(text: string): unknown {
  const message = parsePythonFields(text)
  return message !== undefined && 'content' in message && 'tool_call_id' in message
    ? parseJson(message.content)
    : undefined
}

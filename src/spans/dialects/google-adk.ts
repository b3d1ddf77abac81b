import type { Dialect, Outcome, SpanRole } from '../dialect.ts'
import { jsonAttribute } from '../json-attribute.ts'
import { isRecord, numberOf, textOf } from '../json.ts'
import type { Message, Part } from '../message.ts'
import { makeMessage } from '../messages.ts'
import { outcomeOf } from '../outcome.ts'
import { replyMessages, requestInstructions, requestMessages, requestTools } from '../payloads.ts'
import { makeUsage, semconvConversationId, semconvModel, semconvTool, semconvUsage, semconvUserId } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'
import { genAi } from './gen-ai.ts'

/**
 * Google's Agent Development Kit: scope `gcp.vertex.agent`. Requests and replies of the model stand as JSON on `call_llm`, arguments
 * and results on `execute_tool`. Attributes come after the work: a failed call has none, nor a status.
 */
export const googleAdk: Dialect = {
  name: 'google-adk',
  toolSpans: 'always',

  recognises: (scopeName, attributes) =>
    scopeName === 'gcp.vertex.agent' ||
    attributes['gcp.vertex.agent.event_id'] !== undefined ||
    attributes['gen_ai.system'] === 'gcp.vertex.agent',

  roleOf(span): SpanRole {
    const [operation = ''] = span.name.split(' ', 1)
    // A span that repeats the results of parallel calls.
    if (operation === 'execute_tool' && span.name.includes('(merged')) return 'none'
    return ROLES.get(operation) ?? 'step'
  },

  agent: (span) => genAi.agent?.(span),
  conversationId: (span) =>
    semconvConversationId(span.attributes) ?? textOf(span.attributes['gcp.vertex.agent.session_id']),
  userId: (span) => semconvUserId(span.attributes),

  outcome(span): Outcome {
    const outcome = outcomeOf(span)
    if (outcome.error !== undefined || !span.name.startsWith('call_llm')) return outcome
    const reply = jsonAttribute(span, REPLY)
    if (reply === undefined) return { status: 'error', error: {} }
    const type = isRecord(reply) ? textOf(reply.errorCode ?? reply.error_code) : undefined
    const message = isRecord(reply) ? textOf(reply.errorMessage ?? reply.error_message) : undefined
    if (type === undefined && message === undefined) return { status: 'ok' }
    return {
      status: 'error',
      error: { ...(type !== undefined && { type }), ...(message !== undefined && { message }) },
    }
  },

  systemInstructions(span) {
    const text = requestInstructions(shown(span, REQUEST))
    return text === undefined ? undefined : textOf(withoutEnvelope(text))
  },

  input: (span) => requestMessages(shown(span, REQUEST))?.map(withErrors),
  output: (span) => replyMessages(shown(span, REPLY)),
  toolDefinitions: (span) => requestTools(shown(span, REQUEST)),

  model: (span) => semconvModel(span.attributes),
  usage(span) {
    const usage = semconvUsage(span.attributes)
    if (usage.inputTokens !== undefined) return usage
    const reply = jsonAttribute(span, REPLY)
    const counts = isRecord(reply) ? (reply.usageMetadata ?? reply.usage_metadata) : undefined
    if (!isRecord(counts)) return usage
    return makeUsage(
      numberOf(counts.promptTokenCount ?? counts.prompt_token_count),
      numberOf(counts.candidatesTokenCount ?? counts.candidates_token_count),
    )
  },

  tool(span) {
    const name = /^execute_tool (\S.*)$/.exec(span.name)?.[1]
    return semconvTool(span.attributes) ?? (name === undefined ? undefined : { name })
  },
  toolArguments: (span) => shown(span, 'gcp.vertex.agent.tool_call_args'),
  toolResult: (span) => unwrapResult(shown(span, 'gcp.vertex.agent.tool_response')),

  absence(span, fact) {
    const isOptional = fact === 'systemInstructions' || fact === 'toolDefinitions'
    if (isOptional && shown(span, REQUEST) !== undefined) return undefined
    // A failed call has no attributes at all.
    const isFailed = span.attributes[REQUEST] === undefined
    return isFailed
      ? { why: 'not-recorded' }
      : { why: 'not-captured', switch: 'ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true' }
  },

  contentKeys: ['gcp.vertex.agent.llm_request', 'gcp.vertex.agent.llm_response'].concat([
    'gcp.vertex.agent.tool_call_args',
    'gcp.vertex.agent.tool_response',
    'gcp.vertex.agent.data',
    'gen_ai.tool.description',
  ]),
}

const REQUEST = 'gcp.vertex.agent.llm_request'
const REPLY = 'gcp.vertex.agent.llm_response'

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['invoke_agent', 'agent'],
  ['agent_run', 'agent'],
  ['call_llm', 'model'],
  ['generate_content', 'model'],
  ['execute_tool', 'tool'],
  ['invoke_workflow', 'entry'],
])

/** With content capture off every content is `{}`. A tool that takes or gives nothing is in the model's messages too. */
function shown(span: SourceSpan, key: string): unknown {
  const value = span.attributes[key]
  return value === '{}' || value === 'N/A' ? undefined : jsonAttribute(span, key)
}

/** ADK puts who the agent is before the instruction, and to whom it may transfer after it. */
function withoutEnvelope(text: string): string {
  return text
    .replace(
      /^You are an agent\. Your internal name is "[^"]*"\.(?:\s+The description about you is "[^"]*"\.?)?\s*/,
      '',
    )
    .replace(/\s*You have a list of other agents to transfer to:[\s\S]*$/, '')
}

/** What is no object is wrapped: a list in `{ results }`, anything else in `{ result }`. */
function unwrapResult(value: unknown): unknown {
  if (!isRecord(value) || Object.keys(value).length !== 1) return value
  if (Array.isArray(value.results)) return value.results
  return 'result' in value && (typeof value.result !== 'object' || value.result === null) ? value.result : value
}

/** A tool that threw is answered with `{ error }`. */
function withErrors(message: Message): Message {
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'tool_call_response' || !isRecord(part.response)) return part
    const { error } = part.response
    const isError = typeof error === 'string' && Object.keys(part.response).length === 1
    return isError ? { ...part, response: error, isError } : { ...part, response: unwrapResult(part.response) }
  })
  return makeMessage(message.role, parts, message.name)
}

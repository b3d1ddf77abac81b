import type { Dialect, SpanOutcome, SpanRole } from '../dialect.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { isRecord, numberOf, textOf, toJsonText } from '../json.ts'
import type { Message, Part } from '../../model/message.ts'
import { makeMessage, systemTextOf, textMessage, toolCallsIn } from '../content/messages.ts'
import { outcomeOf, WAITING } from '../outcome.ts'
import { replyMessages, requestInstructions, requestMessages, requestTools } from '../content/payloads.ts'
import { semconvInput, semconvInstructions, semconvOutput, semconvToolDefinitions } from '../content/semconv-content.ts'
import { makeUsage, semconvModel, semconvTool, semconvUsage } from '../semconv.ts'
import type { SourceLog, SourceSpan } from '../source-span.ts'
import { genAi } from './gen-ai.ts'
import { refusalIn, unwrapResult, withoutIdentity } from '../content/adk.ts'

/**
 * Google's Agent Development Kit: scope `gcp.vertex.agent`. The model's requests and replies are JSON on `call_llm`, arguments and results
 * on `execute_tool`. Attributes are written after the work, so a failed call has none, and no status. Version 2 for Python can be
 * configured to write the conventions' attributes or log records instead.
 */
export const googleAdk: Dialect = {
  name: 'google-adk',
  toolSpans: 'always',

  namespaces: ['gcp.vertex.agent.', 'gen_ai.system'],
  recognises: (scopeName, attributes) =>
    scopeName === 'gcp.vertex.agent' ||
    attributes['gcp.vertex.agent.event_id'] !== undefined ||
    attributes['gen_ai.system'] === 'gcp.vertex.agent',

  withoutScope: {
    readAs: genAi,
    isShownBy: ({ attributes }) => attributes['gcp.vertex.agent.event_id'] !== undefined,
  },

  roleOf(span): SpanRole {
    const [operation = ''] = span.name.split(' ', 1)
    // A span that repeats the results of parallel calls.
    if (operation === 'execute_tool' && span.name.includes('(merged')) return 'none'
    if (operation === 'execute_tool' && span.name.endsWith(` ${OUTPUT_TOOL}`)) return 'step'
    return ROLES.get(operation) ?? 'step'
  },

  agent: (span) => genAi.agent?.(span),
  // In Python, agents that hand over to one another are siblings.
  isSingleRun: (span) => span.name.startsWith('invoke_workflow'),

  quirks: { returnsLastText: true },

  conversationKeys: ['gcp.vertex.agent.session_id'],

  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    if (refusalOf(span) === 'not confirmed') return WAITING
    if (outcome.error !== undefined) {
      const message = errorIn(jsonAttribute(span, 'gen_ai.tool.call.result'))
      if (message !== undefined) return { ...outcome, error: { ...outcome.error, message } }
    }
    if (outcome.error !== undefined || !span.name.startsWith('call_llm')) return outcome
    const reply = jsonAttribute(span, REPLY)
    // All attributes are written together: if others are there, a collector removed the reply.
    if (reply === undefined) return hasAnswered(span) ? { status: 'unknown' } : { status: 'error', error: {} }
    const type = isRecord(reply) ? textOf(reply.errorCode ?? reply.error_code) : undefined
    const message = isRecord(reply) ? textOf(reply.errorMessage ?? reply.error_message) : undefined
    if (type === undefined && message === undefined) return { status: 'ok' }
    return {
      status: 'error',
      error: {
        ...(type !== undefined && { type }),
        ...(message !== undefined && { message }),
      },
    }
  },

  systemInstructions(span, logs) {
    const text =
      requestInstructions(shown(span, REQUEST)) ??
      semconvInstructions(span, logs) ??
      systemTextOf(messagesIn(span, logs))
    return text === undefined ? undefined : textOf(withoutIdentity(text))
  },

  input: (span, logs) => (requestMessages(shown(span, REQUEST)) ?? messagesIn(span, logs))?.map(withErrors),
  output(span, logs) {
    const output = replyMessages(shown(span, REPLY)) ?? withoutElided(semconvOutput(span, logs))
    const answer = toolCallsIn(output).find(({ name }) => name === OUTPUT_TOOL)?.arguments
    const text = answer === undefined ? undefined : toJsonText(answer)
    return text === undefined ? output : [textMessage('assistant', text)]
  },
  toolDefinitions: (span, logs) =>
    (requestTools(shown(span, REQUEST)) ?? semconvToolDefinitions(span, logs))?.filter(
      ({ name }) => name !== OUTPUT_TOOL,
    ),

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
    const tool = semconvTool(span.attributes)
    const found = tool?.id === UNKNOWN ? { name: tool.name } : (tool ?? (name === undefined ? undefined : { name }))
    return found !== undefined && refusalOf(span) === 'rejected' ? { ...found, executed: false, rejected: true } : found
  },
  toolArguments: (span) =>
    shown(span, 'gcp.vertex.agent.tool_call_args') ?? jsonAttribute(span, 'gen_ai.tool.call.arguments'),
  toolResult(span) {
    const written = shown(span, 'gcp.vertex.agent.tool_response') ?? jsonAttribute(span, 'gen_ai.tool.call.result')
    const result = unwrapResult(written)
    return result === UNKNOWN || refusalOf(span) === 'not confirmed' ? undefined : result
  },

  absence(span, fact, logs) {
    const isOptional = fact === 'systemInstructions' || fact === 'toolDefinitions'
    if (isOptional && (shown(span, REQUEST) !== undefined || messagesIn(span, logs) !== undefined)) return undefined
    if (semconvInput(span, logs)?.some((message) => message.text === ELIDED) === true) {
      return {
        why: 'not-captured',
        switch: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true',
      }
    }
    if (isConventional(span)) {
      return {
        why: 'not-captured',
        switch: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY',
      }
    }
    // A failed call has no attributes.
    const isFailed = span.attributes[REQUEST] === undefined
    return isFailed
      ? { why: 'not-recorded' }
      : {
          why: 'not-captured',
          switch: 'ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true',
        }
  },

  contentKeys: [...(genAi.contentKeys ?? []), 'gcp.vertex.agent.llm_request', 'gcp.vertex.agent.llm_response'].concat([
    'gcp.vertex.agent.tool_call_args',
    'gcp.vertex.agent.tool_response',
    'gcp.vertex.agent.data',
  ]),
}

/** The tool through which an agent that has tools and a schema of its answer gives the answer. */
const OUTPUT_TOOL = 'set_model_response'

const REQUEST = 'gcp.vertex.agent.llm_request'
const REPLY = 'gcp.vertex.agent.llm_response'

function hasAnswered({ attributes }: SourceSpan): boolean {
  return attributes['gcp.vertex.agent.event_id'] !== undefined || attributes['gen_ai.usage.output_tokens'] !== undefined
}

/** Why a tool did not run. */
function refusalOf(span: SourceSpan): ReturnType<typeof refusalIn> {
  if (!span.name.startsWith('execute_tool')) return undefined
  return refusalIn(shown(span, 'gcp.vertex.agent.tool_response') ?? jsonAttribute(span, 'gen_ai.tool.call.result'))
}

/** Placeholder for a missing id or result. */
const UNKNOWN = '<not specified>'
/** The content of log records without content. */
const ELIDED = '<elided>'

function messagesIn(span: SourceSpan, logs: readonly SourceLog[]): readonly Message[] | undefined {
  return withoutElided(semconvInput(span, logs))
}

function withoutElided(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  const kept = messages?.filter((message) => message.text !== ELIDED)
  return kept?.length === 0 ? undefined : kept
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['invoke_agent', 'agent'],
  ['agent_run', 'agent'],
  ['call_llm', 'model'],
  ['generate_content', 'model'],
  ['execute_tool', 'tool'],
  ['invoke_workflow', 'entry'],
])

/** Whether this is a span of Python's version 2, which does not write the attributes of `call_llm`. */
function isConventional(span: SourceSpan): boolean {
  const isModel = span.name.startsWith('generate_content')
  return (
    isModel ||
    (span.name.startsWith('execute_tool') && span.attributes['gcp.vertex.agent.tool_call_args'] === undefined)
  )
}

/** The error text in the answer of a tool that threw. */
function errorIn(value: unknown): string | undefined {
  return isRecord(value) && Object.keys(value).length === 1 ? textOf(value.error) : undefined
}

/** Without content capture, every content is `{}`. The model's messages also show tools that take or return nothing. */
function shown(span: SourceSpan, key: string): unknown {
  const value = span.attributes[key]
  return value === '{}' || value === 'N/A' ? undefined : jsonAttribute(span, key)
}

/** The answer of a tool that threw is `{ error }`. */
function withErrors(message: Message): Message {
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'tool_call_response' || !isRecord(part.response)) return part
    const error = errorIn(part.response)
    return error !== undefined
      ? { ...part, response: error, isError: true }
      : { ...part, response: unwrapResult(part.response) }
  })
  return makeMessage(message.role, parts, message.name)
}

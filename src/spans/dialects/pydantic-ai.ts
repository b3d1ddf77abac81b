import type { Dialect, ToolRunner } from '../dialect.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { canonicalJson, isRecord, numberOf, textOf, toJsonText } from '../json.ts'
import type { Message, Part, ToolCallResponsePart, ToolDefinition } from '../../model/message.ts'
import { makeMessage, textMessage, toMessages, toolCallsIn } from '../content/messages.ts'
import { outcomeOf, WAITING } from '../outcome.ts'
import { makeUsage } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'
import { genAi } from './gen-ai.ts'

/**
 * Pydantic AI (Python): the GenAI conventions, with all messages of the run on the agent's span. Structured answers are calls of an output
 * tool, which is not part of the trajectory.
 */
export const pydanticAi: Dialect = {
  ...genAi,
  name: 'pydantic-ai',
  toolSpans: 'always-or-refused',

  namespaces: ['pydantic_ai.'],
  recognises: (scopeName, attributes) =>
    scopeName === 'pydantic-ai' || attributes['pydantic_ai.all_messages'] !== undefined,

  // Before version 3 of its instrumentation format, the agent's span has no operation name.
  roleOf(span) {
    const role = genAi.roleOf(span)
    return role === 'step' && span.name === 'agent run' ? 'agent' : role
  },

  agent(span) {
    const name = textOf(span.attributes.agent_name)
    return genAi.agent?.(span) ?? (name === undefined ? undefined : { name })
  },

  input(span, logs) {
    const all = allMessages(span)
    if (all === undefined) return withoutAnswers(span, genAi.input?.(span, logs))
    // Messages before this run are history.
    const own = firstOwn(span, all)
    const answer = all.findIndex((message, index) => index >= own && message.role === 'assistant')
    return answer === -1 ? all : all.slice(0, answer)
  },

  output(span, logs) {
    const final = span.attributes.final_result
    if (isDeferred(span)) return undefined
    if (final !== undefined) {
      const text = toJsonText(final)
      return text === undefined ? undefined : [textMessage('assistant', text)]
    }
    const output = genAi.output?.(span, logs)
    const answer = toolCallsIn(output).find((call) => isOutputTool(span, call.name))
    if (output === undefined || answer === undefined) return output
    const said = withoutAnswers(span, output) ?? []
    // Without content, the arguments are missing, but the call is still the answer.
    const text = toJsonText(answer.arguments)
    return text === undefined ? said : [...said, textMessage('assistant', text)]
  },

  transcript: (span) => allMessages(span),

  // The messages of a run that goes on begin with answers to calls.
  resumption(span) {
    const all = allMessages(span)
    const own = all === undefined ? 0 : firstOwn(span, all)
    if (all === undefined || own === 0) return undefined
    const answer = all.findIndex(({ role }, index) => index >= own && role === 'assistant')
    const given = all.slice(own, answer === -1 ? undefined : answer)
    const answered = new Set(responsesIn(given).flatMap(({ id }) => id ?? []))
    return answered.size === 0 ? undefined : { answered }
  },

  runnerOf(span, toolName) {
    const parameters = jsonAttribute(span, 'model_request_parameters')
    const tools: unknown = isRecord(parameters) ? parameters.function_tools : undefined
    const tool: unknown = Array.isArray(tools)
      ? tools.find((each) => isRecord(each) && each.name === toolName)
      : undefined
    return isRecord(tool) ? RUNNERS.get(tool.kind) : undefined
  },

  toolDefinitions: (span, logs) =>
    (genAi.toolDefinitions?.(span, logs) ?? functionTools(span))?.filter(
      (definition) => !isOutputTool(span, definition.name),
    ),

  usage(span) {
    const read = (name: string): number | undefined => numberOf(span.attributes[`gen_ai.aggregated_usage.${name}`])
    const inputTokens = read('input_tokens')
    return inputTokens === undefined ? genAi.usage?.(span) : makeUsage(inputTokens, read('output_tokens'))
  },

  // Failures have an error status, so a span without one succeeded, unless it was cut: Python records no cancellation.
  outcome(span) {
    const outcome = outcomeOf(span)
    if (isDeferred(span) || span.attributes['pydantic_ai.tool.deferral.name'] !== undefined) return WAITING
    if (outcome.status !== 'unknown') return outcome
    return { status: wasCut(span) ? 'aborted' : 'ok' }
  },

  absence(span, fact) {
    if (wasCut(span)) return { why: 'not-recorded' }
    const isOptional = fact === 'systemInstructions' || fact === 'toolDefinitions'
    // Without content, the messages keep their structure.
    if (isOptional && genAi.input?.(span, [])?.some((message) => message.text !== undefined) === true) return undefined
    return { why: 'not-captured', switch: 'InstrumentationSettings(include_content=True)' }
  },

  contentKeys: [...(genAi.contentKeys ?? []), 'pydantic_ai.all_messages', 'final_result', 'all_messages_events'].concat(
    ['tool_arguments', 'tool_response', 'model_request_parameters', 'events'],
  ),
}

/** Whether an agent or a model call ended before anything came out: everything but the request is written at its end. */
function wasCut(span: SourceSpan): boolean {
  const role = pydanticAi.roleOf(span)
  if (role !== 'agent' && role !== 'model') return false
  return !Object.keys(span.attributes).some((key) => WRITTEN_AT_END.test(key))
}

const WRITTEN_AT_END = /^(?:final_result|gen_ai\.(?:aggregated_)?usage\.|gen_ai\.response\.|gen_ai\.output\.messages)/

/**
 * Where the messages of this run begin. The library counts its requests and responses, and writes a request with a system prompt and a
 * question as two messages.
 */
function firstOwn(span: SourceSpan, messages: readonly Message[]): number {
  let left = numberOf(span.attributes['pydantic_ai.new_message_index']) ?? 0
  return messages.length === 0 || left === 0
    ? 0
    : messages.findIndex(({ role }, index) => {
        if (role === 'user' && messages[index - 1]?.role === 'system') return false
        left -= 1
        return left < 0
      })
}

function responsesIn(messages: readonly Message[]): readonly ToolCallResponsePart[] {
  return messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_call_response'))
}

const RUNNERS: ReadonlyMap<unknown, ToolRunner> = new Map<unknown, ToolRunner>([
  ['function', 'agent'],
  ['unapproved', 'agent if approved'],
  ['external', 'client'],
])

/** Whether the run returned `DeferredToolRequests`: calls that a person must approve, or that run elsewhere. */
function isDeferred(span: SourceSpan): boolean {
  const written = span.attributes.final_result
  if (typeof written !== 'string' || !written.includes('"approvals"')) return false
  const result = jsonAttribute(span, 'final_result')
  if (!isRecord(result) || !Array.isArray(result.calls) || !Array.isArray(result.approvals)) return false
  const requests: readonly unknown[] = [...result.calls, ...result.approvals]
  return requests.length > 0 && requests.every((call) => isRecord(call) && typeof call.tool_call_id === 'string')
}

function allMessages(span: SourceSpan): readonly Message[] | undefined {
  const written = jsonAttribute(span, 'pydantic_ai.all_messages')
  return written === undefined ? undefined : withoutAnswers(span, toMessages(written))
}

/** The messages without calls of the output tool. A call that was refused is repeated in the next request. */
function withoutAnswers(span: SourceSpan, messages: readonly Message[] | undefined): readonly Message[] | undefined {
  if (!toolCallsIn(messages).some((call) => isOutputTool(span, call.name))) return messages
  const isAnswer = (part: Part): boolean => part.type === 'tool_call' && isOutputTool(span, part.name)
  return messages?.map(({ role, parts, name }) =>
    makeMessage(
      role,
      parts.filter((part) => !isAnswer(part)),
      name,
    ),
  )
}

/** The tools of a request, from before the conventions had an attribute for them. */
function functionTools(span: SourceSpan): readonly ToolDefinition[] | undefined {
  const parameters = jsonAttribute(span, 'model_request_parameters')
  return isRecord(parameters) ? toToolDefinitions(parameters.function_tools) : undefined
}

/** Whether the model answers through this tool, by its request or else by the default name. */
function isOutputTool(span: SourceSpan, name: string): boolean {
  const written = span.attributes.model_request_parameters
  // Most agents have none, which the text shows without parsing.
  if (typeof written === 'string' && written.includes('"output_tools":[]')) return false
  const parameters = jsonAttribute(span, 'model_request_parameters')
  const tools: unknown = isRecord(parameters) ? parameters.output_tools : undefined
  if (!Array.isArray(tools)) return name === 'final_result' || name === answeredBy(span)
  return tools.some((tool) => isRecord(tool) && textOf(tool.name) === name)
}

/** The tool of the call whose arguments are the result on the agent's span. */
function answeredBy(span: SourceSpan): string | undefined {
  if (span.attributes.final_result === undefined) return undefined
  const final = canonicalJson(jsonAttribute(span, 'final_result'))
  const calls = toolCallsIn(toMessages(jsonAttribute(span, 'pydantic_ai.all_messages')))
  return calls.findLast((call) => isRecord(call.arguments) && canonicalJson(call.arguments) === final)?.name
}

import type { Absence, Dialect, SpanOutcome, SpanRole } from '../dialect.ts'
import {
  haystackMessage,
  haystackMessages,
  haystackTools,
  pipelineQuestion,
  pipelineReplies,
} from '../content/haystack.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { systemTextOf, textMessage } from '../content/messages.ts'
import { asWritten } from '../content/python-literal.ts'
import { isRecord, numberOf, textOf } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { outcomeOf } from '../outcome.ts'
import { makeUsage } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'

const TYPE = 'haystack.component.type'

/**
 * Haystack's own tracer for OpenTelemetry. The name of a span says what it is, but for components, where a type does. Agents have
 * no names; a pipeline has one for the component that the agent is. Version 3 has a span for each model call and each tool of an
 * agent, version 2 has a component for the model and one for all tools, whose results are in the list of messages alone.
 */
export const haystack: Dialect = {
  name: 'haystack',

  namespaces: ['haystack.'],
  names: ['haystack.'],
  kindKeys: [TYPE],
  recognises: (_, attributes, spanName) => SPAN.test(spanName) || attributes[TYPE] !== undefined,

  roleOf(span): SpanRole {
    const role = ROLES.get(span.name)
    if (role !== undefined) return role
    const type = textOf(span.attributes[TYPE])
    if (type === 'Agent') return 'agent'
    return type?.endsWith('Generator') === true ? 'model' : 'step'
  },

  agent(span) {
    const name = span.attributes[TYPE] === 'Agent' ? textOf(span.attributes['haystack.component.name']) : undefined
    return name === undefined ? undefined : { name }
  },

  systemInstructions: (span, logs) => systemTextOf(haystack.transcript?.(span, logs) ?? haystack.input?.(span, logs)),
  input(span) {
    const given = jsonAttribute(span, 'haystack.pipeline.input_data')
    if (given !== undefined) return pipelineQuestion(given)
    const input = inputOf(span)
    if (!isRecord(input)) return undefined
    const prompt = textOf(input.prompt)
    return haystackMessages(input.messages) ?? (prompt === undefined ? undefined : [textMessage('user', prompt)])
  },
  output(span) {
    const returned = jsonAttribute(span, 'haystack.pipeline.output_data')
    if (returned !== undefined) return pipelineReplies(returned)
    const output = outputOf(span)
    if (!isRecord(output)) return undefined
    const last = haystackMessage(output.last_message)
    if (last !== undefined) return [last]
    if (!Array.isArray(output.replies)) return lastAnswer(haystackMessages(output.messages))
    const [first] = output.replies as readonly unknown[]
    return (
      haystackMessages(output.replies) ?? (typeof first === 'string' ? [textMessage('assistant', first)] : undefined)
    )
  },
  transcript(span) {
    const output = outputOf(span)
    return isRecord(output) ? haystackMessages(output.messages) : undefined
  },
  toolDefinitions(span) {
    const input = inputOf(span)
    const tools = haystackTools(span.attributes['haystack.agent.tools'])
    return tools ?? (isRecord(input) ? haystackTools(input.tools) : undefined)
  },

  model(span) {
    const meta = metaOf(span)
    const model = textOf(meta?.model)
    const finishReason = textOf(meta?.finish_reason)
    return {
      ...(model !== undefined && { model }),
      ...(finishReason !== undefined && { finishReasons: [finishReason] }),
    }
  },
  usage(span) {
    const usage = metaOf(span)?.usage
    if (!isRecord(usage)) return undefined
    return makeUsage(
      numberOf(usage.prompt_tokens) ?? numberOf(usage.input_tokens),
      numberOf(usage.completion_tokens) ?? numberOf(usage.output_tokens),
    )
  },

  tool(span) {
    const name = textOf(span.attributes['haystack.tool.name'])
    return name === undefined ? undefined : { name }
  },
  toolArguments: (span) => jsonAttribute(span, 'haystack.agent.step.tool.input'),
  toolResult(span) {
    const output = jsonAttribute(span, 'haystack.agent.step.tool.output')
    if (!isRecord(output) || !('result' in output)) return isToolError(output) ? undefined : output
    return asWritten(output.result)
  },
  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    const output = jsonAttribute(span, 'haystack.agent.step.tool.output')
    if (outcome.error !== undefined || !isToolError(output)) return outcome
    return { status: 'error', error: { message: output.error } }
  },

  absence: (): Absence => ({ why: 'not-captured', switch: 'HAYSTACK_CONTENT_TRACING_ENABLED=true' }),

  contentKeys: [
    'haystack.agent.input',
    'haystack.agent.output',
    'haystack.agent.tools',
    'haystack.tool.description',
  ].concat([
    'haystack.agent.step.*',
    'haystack.component.input',
    'haystack.component.output',
    'haystack.pipeline.input_data',
    'haystack.pipeline.output_data',
  ]),
}

const SPAN = /^haystack\.(?:agent|pipeline|component|async_pipeline|tool)\b/

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['haystack.agent.run', 'agent'],
  ['haystack.agent.step.llm', 'model'],
  ['haystack.agent.step.tool', 'tool'],
  ['haystack.pipeline.run', 'entry'],
  ['haystack.async_pipeline.run', 'entry'],
])

/** A tool that failed has one field in its output: `{ error }`. */
function isToolError(output: unknown): output is { readonly error: string } {
  return isRecord(output) && typeof output.error === 'string' && Object.keys(output).length === 1
}

/** Within an agent, what models are given is written as Python prints it. */
function inputOf(span: SourceSpan): unknown {
  const written = INPUT_KEYS.find((key) => span.attributes[key] !== undefined)
  if (written === undefined) return undefined
  const value = jsonAttribute(span, written)
  return typeof value === 'string' ? asWritten(value) : value
}

const INPUT_KEYS = ['haystack.agent.input', 'haystack.component.input', 'haystack.agent.step.llm.input']

function outputOf(span: SourceSpan): unknown {
  const written = OUTPUT_KEYS.find((key) => span.attributes[key] !== undefined)
  return written === undefined ? undefined : jsonAttribute(span, written)
}

const OUTPUT_KEYS = ['haystack.agent.output', 'haystack.component.output', 'haystack.agent.step.llm.output']

/** What the model's client says of an answer: `{ model, finish_reason, usage }`. */
function metaOf(span: SourceSpan): Readonly<Record<string, unknown>> | undefined {
  const output = outputOf(span)
  if (!isRecord(output)) return undefined
  const [reply] = Array.isArray(output.replies) ? (output.replies as readonly unknown[]) : []
  const [further] = Array.isArray(output.meta) ? (output.meta as readonly unknown[]) : []
  const meta = isRecord(reply) ? reply.meta : further
  return isRecord(meta) ? meta : undefined
}

function lastAnswer(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  const last = messages?.at(-1)
  return last?.role === 'assistant' && last.text !== undefined ? [last] : undefined
}

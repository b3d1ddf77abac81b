import type { Dialect, SpanRole } from '../dialect.ts'
import { isRecord, textOf } from '../json.ts'
import { toMessage } from '../content/messages.ts'
import { parsePythonLiteral } from '../content/python-literal.ts'
import type { Message } from '../../model/message.ts'
import { operationOf } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'
import { genAi } from './gen-ai.ts'

/**
 * OpenTelemetry's own instrumentations of the OpenAI Agents SDK for Python. The SDK's trace is a workflow, in which agents are siblings and
 * hand over to one another. The older package (`…-openai-agents-v2`) puts a configured agent name on every span, the true name only on
 * agents, and writes model outputs other than text as Python print-outs.
 */
export const otelOpenAiAgents: Dialect = {
  ...genAi,

  namespaces: [],
  recognises: (scopeName, attributes) =>
    scopeName === 'opentelemetry.instrumentation.genai.openai_agents' ||
    (scopeName === OLDER &&
      attributes['traceloop.span.kind'] === undefined &&
      (attributes['gen_ai.system'] !== undefined ||
        attributes['gen_ai.provider.name'] !== undefined ||
        hasNone(attributes))),
  withoutScope: {
    readAs: genAi,
    isShownBy: ({ attributes }) => attributes['gen_ai.agent.description'] === 'OpenAI Agents instrumentation',
  },

  roleOf(span): SpanRole {
    const operation = operationOf(span.attributes)
    if (operation === 'unknown') return 'step'
    if (operation === 'agent_handoff') return 'handoff'
    return isTrace(span) ? 'entry' : genAi.roleOf(span)
  },

  isSingleRun: (span) => operationOf(span.attributes) === 'invoke_workflow' || isTrace(span),

  agent: (span) => (genAi.roleOf(span) === 'agent' ? genAi.agent?.(span) : undefined),

  tool(span) {
    if (operationOf(span.attributes) !== 'agent_handoff') return genAi.tool?.(span)
    const name = handoffTool(span.attributes)
    return name === undefined ? undefined : { name }
  },

  // OpenLLMetry records neither the tools that OpenAI runs nor their calls. Functions are recorded.
  mayHideCalls: ({ name, attributes }) =>
    name === 'openai.response' &&
    attributes['gen_ai.output.messages'] !== undefined &&
    attributes['gen_ai.tool.definitions'] === undefined,

  input: (span, logs) => spoken(genAi.input?.(span, logs)),
  output: (span, logs) => spoken(genAi.output?.(span, logs)),

  // The older package does not write the instructions of the Responses API.
  absence: (span, fact, logs) =>
    genAi.absence?.(span, fact, logs) ?? (isOlder(span) ? { why: 'not-recorded' } : undefined),
}

/** The SDK's default name for the tool of a hand-off. */
export function handoffTool(attributes: Readonly<Record<string, unknown>>): string | undefined {
  const target = textOf(attributes['gen_ai.handoff.to_agent'])
  if (target === undefined || target === 'unknown') return undefined
  return `transfer_to_${target.toLowerCase().replace(/[^a-z0-9]/g, '_')}`
}

function isOlder(span: SourceSpan): boolean {
  return span.scope.name === OLDER
}

const OLDER = 'opentelemetry.instrumentation.openai_agents'

/** The older package's outermost span, an `invoke_agent` without an agent. */
function isTrace(span: SourceSpan): boolean {
  return (
    operationOf(span.attributes) === 'invoke_agent' &&
    span.attributes['gen_ai.agent.name'] === undefined &&
    !span.name.startsWith('invoke_agent')
  )
}

/** Parses tool calls and results from Python print-outs; other print-outs are dropped. */
function spoken(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  const left = messages?.flatMap((message) => {
    const { text = '' } = message
    if (!/^(?:Response\w{1,80}\(\w{1,80}=|\{'\w{1,80}': )/.test(text)) return [message]
    const item = parsePythonLiteral(text)
    return isRecord(item) && ITEMS.has(item.type) ? (toMessage(item) ?? []) : []
  })
  return left?.length === 0 ? undefined : left
}

/** Items of the Responses API that are tool calls or results. */
const ITEMS: ReadonlySet<unknown> = new Set(['function_call', 'function_call_output'])

/** Some spans of this scope only reveal their kind at their end. */
function hasNone(attributes: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(attributes).length === 0
}

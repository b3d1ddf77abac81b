import { parseCutJson } from '../../cut-json.ts'
import type { Absence, ContentFact, Dialect, SpanOutcome, SpanRole } from '../../dialect.ts'
import { countIn, isRecord, parseJson, parseJsonTwice, textOf, numberOf } from '../../json.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import type { Message, Part, ToolCallPart, Usage } from '../../../model/message.ts'
import { makeMessage, textMessage, toInstructions, toMessages } from '../../content/messages.ts'
import { exceptionOf, outcomeOf } from '../../outcome.ts'
import { toToolCallPart } from '../../content/parts.ts'
import { semconvInstructions } from '../../content/semconv-content.ts'
import { CONVERSATION_KEYS, USER_KEYS } from './metadata-keys.ts'
import { makeUsage, semconvModel, semconvTool } from '../../semconv.ts'
import type { SourceSpan } from '../../source-span.ts'
import { toToolDefinitions } from '../../content/tool-definitions.ts'

/**
 * Vercel AI SDK 4 to 6, and `LegacyOpenTelemetry` of AI SDK 7: scope `ai`, `ai.operationId`. A call of `generateText` and similar functions
 * is the agent, `….doGenerate` and `….doStream` are the model calls, `ai.toolCall` the tools.
 */
export const aiSdk: Dialect = {
  name: 'ai-sdk',
  toolSpans: 'always',
  // A failed step has a span. The span of an aborted stream never ends.
  quirks: { formOfTwo: 'older', endsWithoutSum: 'aborted' },

  namespaces: ['ai.'],
  names: ['ai.'],
  kindKeys: ['ai.operationId'],
  recognises: (scopeName, attributes, spanName) =>
    scopeName === 'ai'
      ? spanName.startsWith('ai.') || attributes['ai.operationId'] !== undefined
      : attributes['ai.operationId'] !== undefined,

  roleOf(span): SpanRole {
    const operation = span.attributes['ai.operationId'] ?? firstWord(span.name)
    return typeof operation === 'string' ? (ROLES.get(operation) ?? 'step') : 'step'
  },

  aside: (span) => (isDecision(span) ? 'decision' : undefined),

  agent(span) {
    const name = textOf(span.attributes['ai.telemetry.functionId']) ?? textOf(span.attributes['resource.name'])
    return name === undefined ? undefined : { name }
  },

  conversationKeys: CONVERSATION_KEYS,
  userKeys: USER_KEYS,

  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    if (isDecision(span)) return outcome
    const isTool = span.attributes['ai.operationId'] === 'ai.toolCall'
    const isFinished = isTool ? span.attributes['ai.toolCall.result'] !== undefined : wentToItsEnd(span)
    // OpenInference's processor copies a tool's error to spans around and beside it. The SDK itself always adds an exception.
    const isRaised = outcome.error !== undefined && exceptionOf(span) === undefined
    if (outcome.error !== undefined && !(isFinished && isRaised)) {
      return isTool && isRaised && span.attributes['openinference.span.kind'] !== undefined
        ? { status: 'unknown' }
        : outcome
    }
    if (isTool) return isFinished ? { status: 'ok' } : outcome
    return { status: isFinished ? 'ok' : 'aborted' }
  },

  systemInstructions(span) {
    // Sentry moves them, and tools' names and ids, to the conventions' attributes.
    return toInstructions(promptOf(span)?.system) ?? semconvInstructions(span)
  },

  input(span) {
    const prompt = promptOf(span)
    if (typeof prompt?.prompt === 'string') return [textMessage('user', prompt.prompt)]
    return messagesOf(span, prompt)
  },
  callsInInput: (span) => countIn(span.attributes['ai.prompt.messages'], '"tool-call"'),

  output(span): readonly Message[] | undefined {
    const { attributes } = span
    const parts: Part[] = []
    const reasoning = textOf(attributes['ai.response.reasoning'])
    if (reasoning !== undefined) parts.push({ type: 'reasoning', content: reasoning })
    const calls = callsOf(span)
    const text = textOf(attributes['ai.response.text']) ?? textOf(attributes['ai.response.object'])
    if (text !== undefined) parts.push({ type: 'text', content: text })
    // An empty text beside calls means nothing; alone, it is the answer.
    else if (attributes['ai.response.text'] === '' && calls.length === 0) parts.push({ type: 'text', content: '' })
    parts.push(...calls)
    return parts.length === 0 ? undefined : [makeMessage('assistant', parts)]
  },

  // The model wraps arrays and choices in an object; the agent's span does not.
  hasFinalForm: (span) => /^ai\.(?:generate|stream)Object$/.test(String(span.attributes['ai.operationId'])),

  toolCalls: (span) => callsOf(span),

  // An array of JSON texts.
  toolDefinitions: (span) => toToolDefinitions(span.attributes['ai.prompt.tools']),

  model(span) {
    const fromConventions = semconvModel(span.attributes)
    const model =
      textOf(span.attributes['ai.response.model']) ?? fromConventions.model ?? textOf(span.attributes['ai.model.id'])
    const responseId = textOf(span.attributes['ai.response.id']) ?? fromConventions.responseId
    const finishReason = textOf(span.attributes['ai.response.finishReason'])
    return {
      ...(model !== undefined && { model }),
      ...(responseId !== undefined && { responseId }),
      ...(finishReason !== undefined && { finishReasons: [finishReason] }),
    }
  },

  usage: (span) => usageOf(span),

  tool(span) {
    const name = textOf(span.attributes['ai.toolCall.name'])
    if (name === undefined) return semconvTool(span.attributes)
    const id = textOf(span.attributes['ai.toolCall.id'])
    return { name, ...(id !== undefined && { id }) }
  },
  toolArguments: (span) => parseJsonTwice(span.attributes['ai.toolCall.args']),
  toolResult: (span) => parseJson(span.attributes['ai.toolCall.result']),

  absence: (span, fact) => absenceOf(span, fact),

  contentKeys: ['ai.prompt', 'ai.prompt.*', 'ai.response.text', 'ai.response.reasoning', 'ai.response.toolCalls']
    .concat(['ai.response.object', 'ai.response.providerMetadata', 'ai.toolCall.args', 'ai.toolCall.result'])
    .concat(['ai.value', 'ai.values', 'ai.schema', 'ai.schema.*', 'ai.response.files', 'ai.result.*', 'ai.decision.*']),
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['ai.generateText', 'agent'],
  ['ai.streamText', 'agent'],
  ['ai.generateObject', 'agent'],
  ['ai.streamObject', 'agent'],
  ['ai.generateText.doGenerate', 'model'],
  ['ai.streamText.doStream', 'model'],
  ['ai.generateObject.doGenerate', 'model'],
  ['ai.streamObject.doStream', 'model'],
  ['ai.toolCall', 'tool'],
])

function isDecision({ attributes, name }: SourceSpan): boolean {
  const operation = attributes['ai.operationId'] ?? name
  return operation === 'ai.decide' || operation === 'ai.decide.doDecide'
}

/** Whether a call completed: then it has a finish reason or token counts, also without content capture. */
function wentToItsEnd({ attributes }: SourceSpan): boolean {
  return ENDINGS.some((key) => attributes[key] !== undefined)
}

/** The agent span of `streamObject` has no finish reason. */
const ENDINGS = ['ai.response.finishReason', 'ai.response.object', 'ai.usage.outputTokens', 'ai.usage.completionTokens']

/** "ai.toolCall weather-agent" → "ai.toolCall", for spans that have no attributes yet. */
function firstWord(name: string): string {
  const space = name.indexOf(' ')
  return space === -1 ? name : name.slice(0, space)
}

/** `ai.prompt`: what the caller passed. */
function promptOf(span: SourceSpan): Record<string, unknown> | undefined {
  const prompt = jsonAttribute(span, 'ai.prompt')
  return isRecord(prompt) ? prompt : undefined
}

function messagesOf(span: SourceSpan, prompt: Record<string, unknown> | undefined): readonly Message[] | undefined {
  const given = prompt?.messages ?? prompt?.prompt ?? span.attributes['ai.prompt.messages']
  return given === undefined ? undefined : toMessages(given)
}

function callsOf(span: SourceSpan): ToolCallPart[] {
  const written = span.attributes['ai.response.toolCalls']
  const parsed = parseJson(written)
  // Names and ids in a cut-off list still show the order.
  const list = typeof parsed === 'string' ? parseCutJson(parsed, 2) : parsed
  if (!Array.isArray(list)) return []
  const calls = list.flatMap((call) => toToolCallPart(call) ?? [])
  const providerTools = providerToolsOf(span)
  if (providerTools.size === 0) return calls
  const isProvided = ({ name }: ToolCallPart): boolean =>
    providerTools.has(name) || (name.startsWith(MCP) && providerTools.has(MCP))
  return calls.map((call) => (isProvided(call) ? { ...call, providerExecuted: true } : call))
}

/** The provider's own tools that were offered: `generateText` does not mark their calls. */
function providerToolsOf(span: SourceSpan): ReadonlySet<string> {
  const written = span.attributes['ai.prompt.tools']
  // Jaeger stores lists as JSON text.
  const tools = typeof written === 'string' && written.includes('provider') ? parseJson(written) : written
  if (!Array.isArray(tools)) return NO_NAMES
  const provided = tools.filter((tool: unknown) => typeof tool === 'string' && tool.startsWith('{"type":"provider'))
  if (provided.length === 0) return NO_NAMES
  const names = new Set(toToolDefinitions(provided)?.map((tool) => tool.name))
  return provided.some((tool: unknown) => /"id":"\w{1,99}\.mcp"/.test(String(tool))) ? names.add(MCP) : names
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** What the names of an MCP server's tools begin with, if the provider calls them. */
const MCP = 'mcp.'

function usageOf({ attributes }: SourceSpan): Usage {
  const read = (...keys: string[]): number | undefined => {
    for (const key of keys) {
      const value = numberOf(attributes[key])
      if (value !== undefined) return value
    }
    return undefined
  }
  return makeUsage(
    read('ai.usage.inputTokens', 'ai.usage.promptTokens', 'gen_ai.usage.input_tokens'),
    read('ai.usage.outputTokens', 'ai.usage.completionTokens', 'gen_ai.usage.output_tokens'),
    read('ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'),
    read('ai.usage.inputTokenDetails.cacheWriteTokens'),
    read('ai.usage.reasoningTokens', 'ai.usage.outputTokenDetails.reasoningTokens'),
  )
}

function absenceOf(span: SourceSpan, fact: ContentFact): Absence | undefined {
  // Here, arguments count as outputs of the model, so that setting applies.
  const inputs = fact === 'input' || fact === 'systemInstructions' || fact === 'toolDefinitions'
  const setting = inputs ? 'recordInputs' : 'recordOutputs'
  const messages = span.attributes['ai.prompt.messages']
  const prompt = span.attributes['ai.prompt'] ?? messages
  if (fact === 'toolDefinitions' && prompt !== undefined && messages === undefined) return { why: 'not-recorded' }
  // If the prompt was recorded, there were no tools and no system instructions.
  if (inputs && fact !== 'input' && prompt !== undefined) return undefined
  const option = isSeven(span) ? 'telemetry' : 'experimental_telemetry'
  return { why: 'not-captured', switch: `${option}: { isEnabled: true, ${setting}: true }` }
}

function isSeven(span: SourceSpan): boolean {
  const agent = span.attributes['ai.request.headers.user-agent']
  return typeof agent === 'string' && /\bai\/[7-9]/.test(agent)
}

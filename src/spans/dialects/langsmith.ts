import type { Absence, ContentFact, Dialect, SpanRole } from '../dialect.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { asideKind, middlewareNode } from '../asides.ts'
import { retrievalOfKind, toDocuments } from '../content/documents.ts'
import { finalAnswer, resumptionBy } from '../content/langchain.ts'
import { isRecord, numberOf, parseJson, textOf, toJsonText } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { systemTextOf, textMessage, toMessages, toolCallsIn } from '../content/messages.ts'
import { outcomeWithExceptions } from '../outcome.ts'
import { replyMessages, requestMessages, requestTools } from '../content/payloads.ts'
import { semconvToolDefinitions } from '../content/semconv-content.ts'
import { makeUsage, semconvModel, semconvUsage } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'

/**
 * LangSmith's OpenTelemetry mode: `langsmith.span.kind`. `gen_ai.prompt` and `gen_ai.completion` have the run's inputs and outputs as JSON:
 * a model's whole request and reply, a tool's arguments and result, or a function's argument and value.
 *
 * Failed runs have an exception event and the status OK, which is set first and final in the SDK.
 */
export const langSmith: Dialect = {
  name: 'langsmith',

  namespaces: ['langsmith.'],
  kindKeys: ['langsmith.span.kind'],
  recognises: (scopeName, attributes) => scopeName === 'langsmith' || attributes['langsmith.span.kind'] !== undefined,

  roleOf(span): SpanRole {
    // A streamed model call has no span of its own: it overwrites its calling function's span, often the root.
    if (isOverwritten(span)) return 'entry'
    // In JavaScript, a graph has one span, that of the enclosing function.
    if (isOverwrittenByNode(span)) return 'agent'
    return ROLES.get(kindOf(span)) ?? (kindOf(span) === '' ? 'entry' : 'step')
  },

  aside: (span) => asideKind(kindOf(span)) ?? middlewareNode(span.name),

  agent(span) {
    const role = langSmith.roleOf(span)
    const name = role === 'entry' || role === 'agent' ? textOf(span.name) : undefined
    return name === undefined ? undefined : { name }
  },

  conversationKeys: ['session_id', 'thread_id', 'conversation_id'].map((key) => `langsmith.metadata.${key}`),
  userKeys: ['langsmith.metadata.user_id'],

  outcome: (span) => outcomeWithExceptions(span),

  systemInstructions: (span) => systemTextOf(langSmith.input?.(span, [])),

  input(span) {
    const value = promptOf(span)
    return requestMessages(value) ?? fromArgument(value)
  },

  resumption: (span) => resumptionBy(promptOf(span)),

  output(span) {
    const value = completionOf(span)
    if (kindOf(span) !== 'llm') {
      const said = fromValue(unwrap(value, span))
      // The output of one node is only the answer if it requests nothing more.
      return isOverwrittenByNode(span) && (toolCallsIn(said).length > 0 || said?.[0]?.role !== 'assistant')
        ? undefined
        : said
    }
    const reply = replyMessages(value)
    // Only the first of the calls that overwrote a function's span is recorded, so its tool calls are not an answer.
    return isOverwritten(span) && toolCallsIn(reply).length > 0 ? undefined : reply
  },

  transcript(span) {
    const reply = isOverwritten(span) ? replyMessages(completionOf(span)) : undefined
    // A stream's parallel calls are merged into one, whose arguments are not JSON.
    const isGlued = toolCallsIn(reply).some((call) => typeof call.arguments === 'string')
    return reply === undefined || isGlued ? undefined : [...(requestMessages(promptOf(span)) ?? []), ...reply]
  },

  // In Python they are separate from the prompt.
  toolDefinitions: (span, logs) => requestTools(promptOf(span)) ?? semconvToolDefinitions(span, logs),

  model: (span) => semconvModel(span.attributes),

  usage(span) {
    const usage = semconvUsage(span.attributes)
    const details = parseJson(span.attributes['langsmith.usage_metadata'])
    if (!isRecord(details)) return usage
    const input = isRecord(details.input_token_details) ? details.input_token_details : {}
    const output = isRecord(details.output_token_details) ? details.output_token_details : {}
    return makeUsage(
      usage.inputTokens ?? numberOf(details.input_tokens),
      usage.outputTokens ?? numberOf(details.output_tokens),
      numberOf(input.cache_read),
      numberOf(input.cache_creation),
      numberOf(output.reasoning),
    )
  },

  tool(span) {
    if (span.name === '') return undefined
    const id = textOf(aiSdkCall(span)?.options.toolCallId)
    return { name: span.name, ...(id !== undefined && { id }) }
  },
  toolArguments: (span) => (aiSdkCall(span) ?? { input: promptOf(span) }).input,
  toolResult(span) {
    const value = unwrap(completionOf(span), span)
    const message = isRecord(value) && 'tool_call_id' in value ? toMessages([{ ...value, role: 'tool' }]) : undefined
    const part = message?.[0]?.parts.find((candidate) => candidate.type === 'tool_call_response')
    return part === undefined ? value : part.response
  },

  retrieval: (span) => retrievalOfKind(kindOf(span), () => promptOf(span)),
  documents: (span) => toDocuments(completionOf(span)),

  absence(span, fact) {
    if (isOverwrittenByNode(span)) return { why: 'not-recorded' }
    const isOptional = fact === 'systemInstructions' || fact === 'toolDefinitions'
    if (isOptional && promptOf(span) !== undefined) return undefined
    // A stream's calls after the first leave no trace.
    return fact === 'output' && completionOf(span) !== undefined ? { why: 'not-recorded' } : absenceOf(fact)
  },

  contentKeys: [
    'gen_ai.prompt',
    'gen_ai.completion',
    'gen_ai.tool.definitions',
    'langsmith.metadata.ls_invocation_params',
  ],
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['llm', 'model'],
  ['tool', 'tool'],
  ['chain', 'entry'],
])

function kindOf(span: SourceSpan): string {
  const kind = span.attributes['langsmith.span.kind']
  return typeof kind === 'string' ? kind : ''
}

/** Whether a model call overwrote the span: it has the function's name and the call's attributes. */
function isOverwritten(span: SourceSpan): boolean {
  const traceName = span.attributes['langsmith.trace.name']
  return kindOf(span) === 'llm' && typeof traceName === 'string' && traceName !== span.name
}

/** The same for the first node of a LangChain graph. What other nodes did is not recorded. */
function isOverwrittenByNode(span: SourceSpan): boolean {
  const { attributes } = span
  const traceName = attributes['langsmith.trace.name']
  if (kindOf(span) !== 'chain' || typeof traceName !== 'string' || traceName === span.name) return false
  return (
    attributes['langsmith.traceable'] !== undefined && attributes['langsmith.metadata.langgraph_node'] !== undefined
  )
}

function promptOf(span: SourceSpan): unknown {
  return shown(span, 'gen_ai.prompt')
}

function completionOf(span: SourceSpan): unknown {
  return shown(span, 'gen_ai.completion')
}

/** The AI SDK's arguments of a tool, as written by LangSmith's wrapper: `{ args: [input, { toolCallId, messages }] }`. */
function aiSdkCall(span: SourceSpan): { input: unknown; options: Record<string, unknown> } | undefined {
  const written = span.attributes['gen_ai.prompt']
  const value = typeof written === 'string' && written.includes('"toolCallId"') ? promptOf(span) : undefined
  const [input, options] = isRecord(value) && Array.isArray(value.args) ? (value.args as readonly unknown[]) : []
  return isRecord(options) && 'toolCallId' in options ? { input, options } : undefined
}

/** Hidden content is written as `{}`. The messages also show tools that take or return nothing. */
function shown(span: SourceSpan, key: string): unknown {
  return span.attributes[key] === '{}' ? undefined : jsonAttribute(span, key)
}

/** Values that are not objects are wrapped in `{ outputs }`, in Python in `{ output }`. */
function unwrap(value: unknown, span: SourceSpan): unknown {
  if (!isRecord(value)) return value
  const keys = Object.keys(value)
  if (keys.length !== 1) return value
  if (keys[0] === 'outputs') return value.outputs
  const isPython = span.resource['telemetry.sdk.language'] === 'python'
  return keys[0] === 'output' && isPython ? value.output : value
}

/** The only text that a function received. */
function fromArgument(value: unknown): readonly Message[] | undefined {
  if (!isRecord(value)) return undefined
  const values = Object.values(value)
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? [textMessage('user', only)] : undefined
}

function fromValue(value: unknown): readonly Message[] | undefined {
  if (value === undefined || value === null) return undefined
  if (isRecord(value) && (value.structured_response ?? value.structuredResponse)) return finalAnswer(value, undefined)
  const list = isRecord(value) && Array.isArray(value.messages) ? toMessages(value.messages) : undefined
  if (list !== undefined) return list.slice(-1)
  const text = replyMessages(value) ?? toJsonText(value)
  return typeof text === 'string' ? [textMessage('assistant', text)] : text
}

function absenceOf(fact: ContentFact): Absence {
  const isInput =
    fact === 'input' || fact === 'systemInstructions' || fact === 'toolDefinitions' || fact === 'toolArguments'
  return { why: 'not-captured', switch: isInput ? 'LANGSMITH_HIDE_INPUTS=false' : 'LANGSMITH_HIDE_OUTPUTS=false' }
}

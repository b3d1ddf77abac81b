import type { Dialect, SpanOutcome, SpanRole } from '../dialect.ts'
import { asideKind } from '../asides.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../json.ts'
import type { Message, Part } from '../../model/message.ts'
import { makeMessage, textMessage, toMessages } from '../content/messages.ts'
import { outcomeOf, WAITING } from '../outcome.ts'
import { toToolCallPart } from '../content/parts.ts'
import { semconvModel, semconvUsage } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'

/**
 * Mastra, through its OpenTelemetry exporter and its bridge, which name the same spans differently; `mastra.span.type` identifies them. A
 * `model_step` is one model call with its output, the `model_inference` inside has its tokens, and the `model_generation` around all steps
 * has the messages as sent.
 */
export const mastra: Dialect = {
  name: 'mastra',
  toolSpans: 'always',

  namespaces: ['mastra.'],
  kindKeys: ['mastra.span.type'],
  recognises: (scopeName, attributes) =>
    attributes['mastra.span.type'] !== undefined || scopeName.startsWith('@mastra/otel'),

  roleOf(span): SpanRole {
    const type = span.attributes['mastra.span.type']
    if (type === 'model_chunk' && isForApproval(span)) return 'tool'
    return typeof type === 'string' ? (ROLES.get(type) ?? 'step') : 'step'
  },

  aside: (span) => asideKind(span.attributes['mastra.span.type']),

  agent(span) {
    const type = span.attributes['mastra.span.type']
    if (type !== 'agent_run' && type !== 'workflow_run') return undefined
    const name = textOf(span.attributes['gen_ai.agent.name']) ?? textOf(span.attributes['gen_ai.workflow.name'])
    const id = textOf(span.attributes['gen_ai.agent.id'])
    return { ...(name !== undefined && { name }), ...(id !== undefined && { id }) }
  },

  conversationKeys: ['mastra.metadata.threadId', 'mastra.metadata.sessionId'],
  userKeys: ['mastra.metadata.resourceId', 'mastra.metadata.userId'],

  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    if (outcome.error !== undefined) return outcome
    // Spans of aborted runs end successfully; only the output shows it. Refused arguments are a result of the tool.
    if (endsAs(span, 'aborted')) return { status: 'aborted' }
    if (endsAs(span, 'suspended')) {
      const call = textOf(endOf(span).toolCallId)
      return { ...WAITING, ...(call !== undefined && { waitsFor: call }) }
    }
    if (isForApproval(span)) return WAITING
    const refusal = refusalOf(span)
    return refusal === undefined ? outcome : { status: 'error', error: { message: refusal } }
  },

  quirks: { resumedFrom: ({ attributes }) => textOf(attributes[RESUMED]) },

  resumption(span) {
    if (!isResumed(span)) return undefined
    const given = parseJson(span.attributes['mastra.agent_run.input'])
    const call = isRecord(given) && given.approved === false ? toToolCallPart(given) : undefined
    return call === undefined ? {} : { refused: call }
  },

  // Plain text, not JSON.
  systemInstructions: (span) => textOf(span.attributes['gen_ai.system_instructions']),

  input(span): readonly Message[] | undefined {
    const { attributes } = span
    // An agent that goes on has the answer to what it waited for, and not the question.
    if (isResumed(span)) return undefined
    const given = attributes['mastra.agent_run.input'] ?? attributes['mastra.workflow_run.input']
    if (given === undefined) {
      // Only here an agent that goes on has its question, with the names of tools in place of calls and results.
      const ofStep = attributes[RESUMED] === undefined ? undefined : attributes['mastra.model_step.input']
      return toMessages(ofStep ?? attributes['mastra.model_generation.input'] ?? attributes['gen_ai.input.messages'])
    }
    return toMessages(given) ?? (typeof given === 'string' ? [textMessage('user', given)] : undefined)
  },

  output(span): readonly Message[] | undefined {
    const { attributes } = span
    const written = parseJson(
      attributes['mastra.agent_run.output'] ??
        attributes['mastra.model_step.output'] ??
        attributes['mastra.model_inference.output'],
    )
    if (!isRecord(written)) return toMessages(attributes['gen_ai.output.messages'])
    const parts: Part[] = []
    // If a schema was requested, the object is the answer, and the text is its source.
    const text = written.object === undefined ? textOf(written.text) : toJsonText(written.object)
    if (text !== undefined) parts.push({ type: 'text', content: text })
    if (Array.isArray(written.toolCalls)) parts.push(...written.toolCalls.flatMap((call) => toToolCallPart(call) ?? []))
    return parts.length === 0 ? undefined : [makeMessage('assistant', parts)]
  },

  // A model of its own may have made the object from the text of the last call.
  hasFinalForm: (span) => isObjectGiven(span),

  // Names only.
  toolDefinitions: (span) => toToolDefinitions(span.attributes['gen_ai.tool.definitions']),

  model: (span) => semconvModel(span.attributes),
  usage: (span) => semconvUsage(span.attributes),

  tool(span) {
    const { attributes } = span
    if (isForApproval(span)) return toToolCallPart(parseJson(attributes[CHUNK]))
    const name = textOf(attributes['gen_ai.tool.name']) ?? textOf(span.name.slice(span.name.indexOf(' ') + 1))
    if (name === undefined) return undefined
    const id = textOf(attributes['gen_ai.tool.call.id']) ?? textOf(attributes['mastra.metadata.toolCallId'])
    const type = attributes['mastra.span.type']
    const wasRefused = type === 'client_tool_call' || refusalOf(span) !== undefined
    return {
      name,
      ...(id !== undefined && { id }),
      ...(type === 'provider_tool_call' && { providerExecuted: true }),
      ...(wasRefused && { executed: false }),
    }
  },
  toolArguments: (span) =>
    toToolCallPart(parseJson(span.attributes[CHUNK]))?.arguments ??
    parseJson(span.attributes['gen_ai.tool.call.arguments'] ?? span.attributes['mastra.metadata.args']),
  toolResult: (span) => parseJson(span.attributes['gen_ai.tool.call.result']),

  absence(_span, fact) {
    // System instructions and tool names are always recorded.
    if (fact === 'systemInstructions' || fact === 'toolDefinitions') return undefined
    const option = fact === 'input' || fact === 'toolArguments' ? 'hideInput' : 'hideOutput'
    return { why: 'not-captured', switch: `tracingOptions: { ${option}: false }` }
  },

  contentKeys: [
    'mastra.agent_run.*',
    'mastra.model_generation.*',
    'mastra.model_inference.*',
    'mastra.model_chunk.*',
    'mastra.model_step.input',
    'mastra.processor_run.*',
  ]
    .concat(['mastra.model_step.output', 'mastra.metadata.body', 'mastra.metadata.args', 'mastra.tool_call.*'])
    .concat(['mastra.mcp_tool_call.*', 'mastra.workflow_run.*', 'mastra.workflow_step.*', 'mastra.generic.*'])
    .concat(['mastra.mapping.*', 'mastra.metadata.providerMetadata']),
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['agent_run', 'agent'],
  ['workflow_run', 'entry'],
  ['model_step', 'model'],
  ['model_inference', 'model'],
  ['tool_call', 'tool'],
  ['mcp_tool_call', 'tool'],
  ['provider_tool_call', 'tool'],
  ['client_tool_call', 'tool'],
  ['scorer_run', 'evaluator'],
])

const RESUMED = 'mastra.metadata.resumedFromSpanId'

/** Whether the span is an agent's whose input answers what it waited for. */
function isResumed({ attributes }: SourceSpan): boolean {
  const given = attributes['mastra.agent_run.input']
  const isAnswer = typeof given === 'string' && given.startsWith('{') && given.includes('"toolCallId":')
  return isAnswer && attributes[RESUMED] !== undefined
}

const CHUNK = 'mastra.model_chunk.output'

/** A part of a stream whose call waits for an approval has the schema of the answer. */
function isForApproval({ attributes }: SourceSpan): boolean {
  const written = attributes[CHUNK]
  return typeof written === 'string' && written.startsWith('{"toolCallId":') && written.includes('"resumeSchema":')
}

/** What a run that ended early has instead of an output. */
function endOf({ attributes }: SourceSpan): Record<string, unknown> {
  const output = parseJson(attributes['mastra.agent_run.output'])
  return isRecord(output) ? output : {}
}

/** Runs that were aborted, or suspended until somebody approves a call, have this instead of an output. */
function endsAs({ attributes }: SourceSpan, status: 'aborted' | 'suspended'): boolean {
  const output = attributes['mastra.agent_run.output'] ?? attributes['mastra.workflow_run.output']
  return typeof output === 'string' && output.startsWith(`{"status":"${status}"`)
}

/** Whether the caller asked for an object, which the output then has beside the text. */
function isObjectGiven({ attributes }: SourceSpan): boolean {
  const written = attributes['mastra.agent_run.output']
  if (typeof written !== 'string' || !written.includes('"object":')) return false
  const output = parseJson(written)
  return isRecord(output) && output.object !== undefined && output.object !== null
}

/** Mastra validates arguments inside the tool's span, which then ends successfully. The result says that no tool ran. */
function refusalOf(span: SourceSpan): string | undefined {
  const result = span.attributes['gen_ai.tool.call.result']
  if (typeof result !== 'string' || !result.startsWith('{"error":true,"message":"Tool input validation failed')) {
    return undefined
  }
  const parsed = parseJson(result)
  return isRecord(parsed) ? textOf(parsed.message) : undefined
}

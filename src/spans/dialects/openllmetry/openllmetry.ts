import { asideKind, middlewareNode } from '../../asides.ts'
import type { Dialect, SpanRole } from '../../dialect.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord, parseJson, textOf } from '../../json.ts'
import { agentNameIn, finalAnswer, toolMessageFields, toolMessageIn } from '../../content/langchain.ts'
import { systemTextOf, textMessage, toMessages } from '../../content/messages.ts'
import { unwrapBlocks } from '../../content/parts.ts'
import { toToolDefinitions } from '../../content/tool-definitions.ts'
import { operationOf, semconvModel } from '../../semconv.ts'
import type { SourceSpan } from '../../source-span.ts'
import { genAi } from '../gen-ai.ts'
import { handoffTool } from '../otel-openai-agents.ts'
import { queryIn, retrievalOfKind, toDocuments } from '../../content/documents.ts'
import { fromEntityInput, fromResponsesInput, indexedFunctions } from './content.ts'
import { fromLangChain, isFlatSpan, isGraph, isHandoffBack, isLangChain } from './langchain.ts'
import { collectionOf, isRetrieval, isVectorQuery, queryResults, VECTOR_KEYS, VECTOR_SCOPE } from './retrieval.ts'
import {
  agentOfTask,
  isSingleRun,
  isAgentsSdk,
  isInTool,
  isPythonGraph,
  PYTHON_SCOPE,
  withIdsOfItems,
} from './python.ts'

/**
 * OpenLLMetry (Traceloop) in all its forms: decorated functions (`traceloop.span.kind`, `traceloop.entity.*`), providers with old
 * (`gen_ai.prompt.N`) and new conventions, and LangChain's callbacks. In JavaScript, these write a flat list of spans, where only the state
 * on the graph's own span has the model's tool calls.
 */
export const openLlmetry: Dialect = {
  ...genAi,
  name: 'openllmetry',
  // The span of a decorated function that throws never ends.
  toolSpans: 'unless-failed',

  namespaces: ['traceloop.', 'llm.request.'],
  kindKeys: ['traceloop.span.kind'],
  recognises: (scopeName, attributes) =>
    attributes['traceloop.span.kind'] !== undefined ||
    attributes['llm.request.type'] !== undefined ||
    scopeName.startsWith('@traceloop/') ||
    PYTHON_SCOPE.test(scopeName) ||
    VECTOR_SCOPE.test(scopeName),

  roleOf(span): SpanRole {
    if (VECTOR_SCOPE.test(span.scope.name)) return 'none'
    const operation = operationOf(span.attributes)
    if (operation === 'execute_tool') return 'tool'
    if (isPythonGraph(span)) return 'agent'
    // LangGraph's own call in Python, which may be a sibling of its work, with nothing below it.
    if (isLangChain(span) && span.attributes['gen_ai.workflow.nodes'] !== undefined) return 'entry'
    if (isInTool(span)) return 'entry'
    if (isFlatSpan(span) && operation === 'workflow') return isGraph(span) ? 'agent' : 'step'
    const role = KINDS.get(textOf(span.attributes['traceloop.span.kind']) ?? '')
    if (role !== undefined) return role
    const requestType = textOf(span.attributes['llm.request.type'])
    if (requestType !== undefined) return REQUEST_TYPES.get(requestType) ?? 'step'
    return genAi.roleOf(span)
  },

  aside: (span) =>
    asideKind(span.attributes['traceloop.span.kind']) ??
    (isRetrieval(span) ? 'retrieval' : undefined) ??
    middlewareNode(textOf(span.attributes['traceloop.entity.name']) ?? '') ??
    genAi.aside?.(span),

  quirks: { isFlat: isFlatSpan, startsBesideItsTool: isAgentsSdk },
  isSingleRun: (span) => isSingleRun(span),

  agent(span) {
    const named = genAi.agent?.(span)
    if (named !== undefined) return named
    if (span.attributes['llm.request.type'] === 'agent') return span.name === '' ? undefined : { name: span.name }
    const kind = span.attributes['traceloop.span.kind']
    const isOwn =
      isPythonGraph(span) || isInTool(span) || ((kind === 'agent' || kind === 'workflow') && !isLangChain(span))
    const name = isOwn
      ? textOf(span.attributes['traceloop.entity.name'])
      : isFlatSpan(span)
        ? agentNameIn(jsonAttribute(span, 'traceloop.entity.output'))
        : undefined
    if (kind === 'task' && isLangChain(span) && !isOwn) return agentOfTask(span)
    // The outermost span of Python's LangChain has no other name.
    const fallback =
      kind === 'workflow' && !isFlatSpan(span) ? textOf(span.attributes['traceloop.workflow.name']) : undefined
    return name === undefined && fallback === undefined ? undefined : { name: name ?? fallback ?? '' }
  },

  conversationKeys: [
    'session_id',
    'conversation_id',
    'chat_id',
    'thread_id',
    'sessionId',
    'conversationId',
    'threadId',
  ].map(toProperty),
  userKeys: ['user_id', 'userId'].map(toProperty),

  systemInstructions: (span, logs) =>
    isLangChain(span) && span.attributes['gen_ai.system_instructions'] === undefined
      ? systemTextOf(openLlmetry.input?.(span, logs))
      : genAi.systemInstructions?.(span, logs),

  input(span, logs) {
    const entity = span.attributes['traceloop.entity.input']
    if (entity !== undefined) return fromEntityInput(jsonAttribute(span, 'traceloop.entity.input'))
    const messages = genAi.input?.(span, logs)
    if (isLangChain(span)) return messages?.map(fromLangChain)
    if (messages === undefined) return undefined
    return span.name === 'openai.response' ? withIdsOfItems(messages) : fromResponsesInput(messages)
  },

  output(span, logs) {
    const entity = textOf(span.attributes['traceloop.entity.output'])
    if (entity === undefined) return genAi.output?.(span, logs)
    const value = jsonAttribute(span, 'traceloop.entity.output')
    // LangChain's callbacks for Python write `{ outputs, kwargs }`.
    const state = isRecord(value) && isRecord(value.outputs) && 'kwargs' in value ? value.outputs : value
    return typeof state === 'string' ? [textMessage('assistant', state)] : finalAnswer(state, entity)
  },

  transcript(span) {
    const state = isGraph(span) ? jsonAttribute(span, 'traceloop.entity.output') : undefined
    if (!isRecord(state) || !Array.isArray(state.messages)) return undefined
    return toMessages(state.messages.filter((message) => !isHandoffBack(message)))
  },

  toolDefinitions: (span, logs) =>
    genAi.toolDefinitions?.(span, logs) ??
    indexedFunctions(span) ??
    toToolDefinitions(span.attributes['llm.request.functions']),

  // Of the Responses API, calls that the provider ran only show in the reason why the model stopped.
  mayHideCalls: (span) =>
    span.name === 'openai.response' && semconvModel(span.attributes).finishReasons?.includes('tool_call') === true,

  tool(span) {
    const handoff = handoffTool(span.attributes)
    if (handoff !== undefined) return { name: handoff }
    const message = toolMessageIn(span, 'traceloop.entity.output')
    const entityName = textOf(span.attributes['traceloop.entity.name'])
    const name =
      textOf(span.attributes['gen_ai.tool.name']) ??
      textOf(message?.name) ??
      // LangChain in JavaScript writes the class instead of the tool's name.
      (entityName !== undefined && /^(Dynamic)?(Structured)?Tool$/.test(entityName) ? undefined : entityName)
    const id = textOf(span.attributes['gen_ai.tool.call.id']) ?? textOf(message?.tool_call_id) ?? callbackId(span)
    return name === undefined ? undefined : { name, ...(id !== undefined && { id }) }
  },

  toolArguments(span, logs) {
    const written = jsonAttribute(span, 'traceloop.entity.input')
    if (!isRecord(written)) return written ?? genAi.toolArguments?.(span, logs)
    const { args, kwargs } = written
    // LangChain's callbacks for Python: `kwargs` are those of the callback.
    if ('input_str' in written) return written.inputs ?? parseJson(written.input_str)
    if (!Array.isArray(args)) return isRecord(kwargs) ? kwargs : written
    if (args.length === 0) return kwargs ?? {}
    return args.length === 1 ? parseJson(args[0]) : args
  },

  toolResult(span, logs) {
    const written = span.attributes['traceloop.entity.output']
    if (written === undefined) return genAi.toolResult?.(span, logs)
    const parsed = jsonAttribute(span, 'traceloop.entity.output')
    const message = toolMessageFields(parsed)
    if (message !== undefined) return unwrapBlocks(message.content)
    return isRecord(parsed) && 'output' in parsed && 'kwargs' in parsed ? parsed.output : parsed
  },

  retrieval(span, logs) {
    if (isVectorQuery(span)) return { kind: 'search', source: collectionOf(span) }
    if (isRetrieval(span)) return { kind: 'search', query: queryIn(jsonAttribute(span, 'traceloop.entity.input')) }
    const kind = span.attributes['traceloop.span.kind']
    return retrievalOfKind(kind, () => jsonAttribute(span, 'traceloop.entity.input')) ?? genAi.retrieval?.(span, logs)
  },
  documents: (span, logs) =>
    queryResults(span) ?? toDocuments(jsonAttribute(span, 'traceloop.entity.output')) ?? genAi.documents?.(span, logs),

  absence(span, fact) {
    if (fact === 'documents' && isVectorQuery(span)) return { why: 'not-recorded' }
    const input = span.attributes['gen_ai.input.messages'] ?? span.attributes['gen_ai.prompt.0.role']
    // With the Responses API and LangChain, instructions and tools are never recorded.
    if (input !== undefined && fact === 'toolDefinitions') return { why: 'not-recorded' }
    if (input !== undefined && fact === 'systemInstructions') {
      return typeof input === 'string' && /"content":\s*"\[\{/.test(input) ? { why: 'not-recorded' } : undefined
    }
    const isOfAnswer = fact === 'output' || fact === 'toolCalls'
    if (isOfAnswer && span.attributes['gen_ai.output.messages'] !== undefined) return { why: 'not-recorded' }
    return { why: 'not-captured', switch: 'TRACELOOP_TRACE_CONTENT=true (initialize({ traceContent: true }))' }
  },

  contentKeys: [...(genAi.contentKeys ?? []), 'traceloop.entity.input', 'traceloop.entity.output'].concat([
    'llm.request.functions',
    'llm.request.functions.*',
    'traceloop.prompt.*',
    ...VECTOR_KEYS,
    // LiteLLM's spans of raw requests, with the name of the provider.
    ...['openai', 'azure', 'anthropic', 'bedrock', 'gemini', 'vertex_ai', 'mistral', 'groq', 'cohere', 'ollama'].map(
      (provider) => `llm.${provider}.*`,
    ),
  ]),
}

/** LangChain's callbacks for Python have the id of a tool's call in their arguments, also if the tool fails. */
function callbackId(span: SourceSpan): string | undefined {
  const written = span.attributes['traceloop.entity.input']
  if (typeof written !== 'string' || !written.includes('"tool_call_id"')) return undefined
  const value = jsonAttribute(span, 'traceloop.entity.input')
  return isRecord(value) && isRecord(value.kwargs) ? textOf(value.kwargs.tool_call_id) : undefined
}

const KINDS: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['agent', 'agent'],
  ['workflow', 'entry'],
  ['tool', 'tool'],
  ['handoff', 'handoff'],
  ['task', 'step'],
  ['session', 'step'],
])

/** Applications that write these spans themselves also mark agents and tools by it. */
const REQUEST_TYPES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['chat', 'model'],
  ['completion', 'model'],
  ['agent', 'agent'],
  ['tool', 'tool'],
])

function toProperty(key: string): string {
  return `traceloop.association.properties.${key}`
}

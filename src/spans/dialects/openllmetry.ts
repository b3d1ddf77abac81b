import type { Dialect, SpanRole } from '../dialect.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { isRecord, parseJson, textOf } from '../json.ts'
import { agentNameIn, finalAnswer, toolMessageFields } from '../content/langchain.ts'
import type { Message, Part, ToolDefinition } from '../../model/message.ts'
import { makeMessage, systemTextOf, textMessage, toMessages } from '../content/messages.ts'
import { unwrapBlocks } from '../content/parts.ts'
import { requestMessages } from '../content/payloads.ts'
import { operationOf, semconvConversationId, semconvUserId } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'
import { genAi } from './gen-ai.ts'

/**
 * OpenLLMetry (Traceloop), in all its forms: decorated functions (`traceloop.span.kind`, `traceloop.entity.*`), providers with
 * the conventions' attributes, old (`gen_ai.prompt.N`) and new, and LangChain's callbacks, which in JavaScript write a flat
 * list of spans: there the state of the graph, in its own span, is the only place where the model's tool calls stand.
 */
export const openLlmetry: Dialect = {
  ...genAi,
  name: 'openllmetry',
  // A decorated function that throws never ends its span.
  toolSpans: 'unless-failed',

  namespaces: ['traceloop.', 'llm.request.'],
  kindKeys: ['traceloop.span.kind'],
  recognises: (scopeName, attributes) =>
    attributes['traceloop.span.kind'] !== undefined ||
    attributes['llm.request.type'] !== undefined ||
    scopeName.startsWith('@traceloop/') ||
    PYTHON_SCOPE.test(scopeName),

  roleOf(span): SpanRole {
    const operation = operationOf(span.attributes)
    if (operation === 'execute_tool') return 'tool'
    if (isPythonGraph(span)) return 'agent'
    // LangGraph's own call in Python, which may stand beside its work, with nothing below it.
    if (isLangChain(span) && span.attributes['gen_ai.workflow.nodes'] !== undefined) return 'entry'
    if (isInTool(span)) return 'entry'
    if (isFlat(span) && operation === 'workflow') return isGraph(span) ? 'agent' : 'step'
    const role = KINDS.get(textOf(span.attributes['traceloop.span.kind']) ?? '')
    if (role !== undefined) return role
    const requestType = textOf(span.attributes['llm.request.type'])
    if (requestType !== undefined) return requestType === 'chat' || requestType === 'completion' ? 'model' : 'step'
    return genAi.roleOf(span)
  },

  isFlat,

  agent(span) {
    const named = genAi.agent?.(span)
    if (named !== undefined) return named
    const kind = span.attributes['traceloop.span.kind']
    const isOwn =
      isPythonGraph(span) || isInTool(span) || ((kind === 'agent' || kind === 'workflow') && !isLangChain(span))
    const name = isOwn
      ? textOf(span.attributes['traceloop.entity.name'])
      : isFlat(span)
        ? agentNameIn(jsonAttribute(span, 'traceloop.entity.output'))
        : undefined
    // The outermost span of Python's LangChain says no other name.
    const fallback =
      kind === 'workflow' && !isFlat(span) ? textOf(span.attributes['traceloop.workflow.name']) : undefined
    return name === undefined && fallback === undefined ? undefined : { name: name ?? fallback ?? '' }
  },

  conversationId: (span) => semconvConversationId(span.attributes) ?? property(span, CONVERSATION_KEYS),
  userId: (span) => semconvUserId(span.attributes) ?? property(span, USER_KEYS),

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
    return typeof value === 'string' ? [textMessage('assistant', value)] : finalAnswer(value, entity)
  },

  transcript(span) {
    const state = isGraph(span) ? jsonAttribute(span, 'traceloop.entity.output') : undefined
    if (!isRecord(state) || !Array.isArray(state.messages)) return undefined
    return toMessages(state.messages.filter((message) => !isHandoffBack(message)))
  },

  toolDefinitions: (span, logs) => genAi.toolDefinitions?.(span, logs) ?? indexedFunctions(span),

  tool(span) {
    const message = toolMessageFields(jsonAttribute(span, 'traceloop.entity.output'))
    const entityName = textOf(span.attributes['traceloop.entity.name'])
    const name =
      textOf(span.attributes['gen_ai.tool.name']) ??
      textOf(message?.name) ??
      // LangChain in JavaScript names the class, not the tool.
      (entityName !== undefined && /^(Dynamic)?(Structured)?Tool$/.test(entityName) ? undefined : entityName)
    const id = textOf(span.attributes['gen_ai.tool.call.id']) ?? textOf(message?.tool_call_id)
    return name === undefined ? undefined : { name, ...(id !== undefined && { id }) }
  },

  toolArguments(span, logs) {
    const written = jsonAttribute(span, 'traceloop.entity.input')
    if (!isRecord(written)) return written ?? genAi.toolArguments?.(span, logs)
    const { args, kwargs } = written
    if (!Array.isArray(args)) return isRecord(kwargs) ? kwargs : written
    if (args.length === 0) return kwargs ?? {}
    return args.length === 1 ? parseJson(args[0]) : args
  },

  toolResult(span, logs) {
    const written = span.attributes['traceloop.entity.output']
    if (written === undefined) return genAi.toolResult?.(span, logs)
    const parsed = jsonAttribute(span, 'traceloop.entity.output')
    const message = toolMessageFields(parsed)
    return message === undefined ? parsed : unwrapBlocks(message.content)
  },

  absence(span, fact) {
    const input = span.attributes['gen_ai.input.messages'] ?? span.attributes['gen_ai.prompt.0.role']
    // Over the Responses API, and from LangChain, instructions and tools are never recorded.
    if (input !== undefined && fact === 'toolDefinitions') return { why: 'not-recorded' }
    if (input !== undefined && fact === 'systemInstructions') {
      return typeof input === 'string' && /"content":\s*"\[\{/.test(input) ? { why: 'not-recorded' } : undefined
    }
    if (fact === 'output' && span.attributes['gen_ai.output.messages'] !== undefined) return { why: 'not-recorded' }
    return { why: 'not-captured', switch: 'TRACELOOP_TRACE_CONTENT=true (initialize({ traceContent: true }))' }
  },

  contentKeys: [...(genAi.contentKeys ?? []), 'traceloop.entity.input', 'traceloop.entity.output'].concat([
    'llm.request.functions.*',
    'traceloop.prompt.*',
  ]),
}

/** Python's decorators, and those of its packages whose spans no other dialect knows better. */
const PYTHON_SCOPE = /^(?:traceloop\.tracer|opentelemetry\.instrumentation\.(?:openai\.v\d|langchain))$/

const KINDS: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['agent', 'agent'],
  ['workflow', 'entry'],
  ['tool', 'tool'],
  ['handoff', 'handoff'],
  ['task', 'step'],
  ['session', 'step'],
])

const CONVERSATION_KEYS = [
  'session_id',
  'conversation_id',
  'chat_id',
  'thread_id',
  'sessionId',
  'conversationId',
  'threadId',
].map(toProperty)

const USER_KEYS = ['user_id', 'userId'].map(toProperty)

function toProperty(key: string): string {
  return `traceloop.association.properties.${key}`
}

function property(span: SourceSpan, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = textOf(span.attributes[key])
    if (value !== undefined) return value
  }
  return undefined
}

function isLangChain(span: SourceSpan): boolean {
  return span.scope.name.includes('langchain')
}

/** LangChain's callbacks in JavaScript: a flat list of spans. */
function isFlat(span: SourceSpan): boolean {
  return span.scope.name === '@traceloop/instrumentation-langchain'
}

/** The span of a whole LangGraph graph, `createAgent`'s too. */
function isGraph(span: SourceSpan): boolean {
  return isLangChain(span) && /\b(CompiledStateGraph|CompiledGraph|LangGraph)\b/.test(span.name)
}

/** The words that LangGraph's supervisor puts between an agent's answer and its own next call: no model said them. */
function isHandoffBack(message: unknown): boolean {
  const fields = isRecord(message) && isRecord(message.kwargs) ? message.kwargs : undefined
  const content = typeof fields?.content === 'string' ? fields.content : ''
  return content.startsWith('Transferring back to ') || content.startsWith('Successfully transferred back to ')
}

/** In Python a graph that a tool runs is written as a task, under the name that its metadata gives the agent. */
function isPythonGraph(span: SourceSpan): boolean {
  const name = span.attributes['traceloop.association.properties.lc_agent_name']
  const isTask = span.attributes['traceloop.span.kind'] === 'task'
  return isTask && name !== undefined && name === span.attributes['traceloop.entity.name']
}

/** What a tool of a graph runs in Python: a graph, if models are below it; of `create_react_agent` nothing else says so. */
function isInTool(span: SourceSpan): boolean {
  const { attributes } = span
  return (
    attributes['traceloop.span.kind'] === 'task' &&
    attributes['traceloop.association.properties.langgraph_node'] === 'tools' &&
    attributes['traceloop.entity.name'] !== 'tools'
  )
}

/** What a function was given: `{ args, kwargs }` of decorated functions, the state of a graph. */
function fromEntityInput(value: unknown): readonly Message[] | undefined {
  if (!isRecord(value)) return typeof value === 'string' ? [textMessage('user', value)] : requestMessages(value)
  if (!Array.isArray(value.args)) return requestMessages(value) ?? fromOnlyText(Object.values(value))
  const [first] = value.args as readonly unknown[]
  if (typeof first === 'string') return [textMessage('user', first)]
  return requestMessages(first) ?? (isRecord(value.kwargs) ? fromKwargs(value.kwargs) : undefined)
}

function fromKwargs(kwargs: Record<string, unknown>): readonly Message[] | undefined {
  return requestMessages(kwargs) ?? fromOnlyText(Object.values(kwargs))
}

function fromOnlyText(values: readonly unknown[]): readonly Message[] | undefined {
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? [textMessage('user', only)] : undefined
}

/** Contents that are lists of blocks stand as JSON text, tool answers as text without their id. */
function fromLangChain(message: Message): Message {
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'text') return part
    const content = /^\[\s*\{\s*"type"/.test(part.content) ? unwrapBlocks(parseJson(part.content)) : part.content
    if (message.role === 'tool') return { type: 'tool_call_response', response: parseJson(part.content) }
    return typeof content === 'string' ? { type: 'text', content } : part
  })
  return makeMessage(message.role, parts, message.name)
}

/**
 * Over the Responses API Python names calls by the ids of their items (`fc_…`), and answers by those of the calls
 * (`call_…`): an answer whose call is not there answers the first call that has no answer yet.
 */
function withIdsOfItems(messages: readonly Message[]): readonly Message[] {
  const parts = messages.flatMap((message) => message.parts)
  const asked = parts.flatMap((part) => (part.type === 'tool_call' ? (part.id ?? []) : []))
  const answered = new Set(parts.flatMap((part) => (part.type === 'tool_call_response' ? (part.id ?? []) : [])))
  const open = asked.filter((id) => !answered.has(id))
  if (open.length === 0) return messages
  const known = new Set(asked)
  return messages.map((message) => {
    if (!message.parts.some((part) => part.type === 'tool_call_response')) return message
    const renamed = message.parts.map((part): Part => {
      if (part.type !== 'tool_call_response' || (part.id !== undefined && known.has(part.id))) return part
      const id = open.shift()
      return id === undefined ? part : { ...part, id }
    })
    return makeMessage(message.role, renamed, message.name)
  })
}

/** The Responses API's list of items stands as JSON text in one user message. */
function fromResponsesInput(messages: readonly Message[]): readonly Message[] {
  const only = messages.length === 1 ? messages[0] : undefined
  if (only?.role !== 'user' || only.text?.startsWith('[{') !== true) return messages
  return toMessages(only.text) ?? messages
}

/** `llm.request.functions.N.name`, and the schema as `parameters` (Python) or `arguments` (JavaScript). */
function indexedFunctions(span: SourceSpan): readonly ToolDefinition[] | undefined {
  const functions = new Map<number, Record<string, unknown>>()
  for (const key in span.attributes) {
    const match = /^llm\.request\.functions\.(\d+)\.(name|description|parameters|arguments)$/.exec(key)
    if (match === null) continue
    const field = match[2] === 'arguments' ? 'parameters' : (match[2] ?? '')
    const definition = functions.get(Number(match[1])) ?? {}
    functions.set(Number(match[1]), definition)
    definition[field] = span.attributes[key]
  }
  const sorted = [...functions].toSorted(([left], [right]) => left - right)
  return sorted.length === 0 ? undefined : toToolDefinitions(sorted.map(([, definition]) => definition))
}

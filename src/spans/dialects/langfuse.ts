import type { ContentFact, Dialect, Outcome, SpanRole } from '../dialect.ts'
import { isRecord, numberOf, parseJson, textOf, toJsonText } from '../json.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { agentOfNode, toolMessageFields } from '../content/langchain.ts'
import type { Message, Usage } from '../../model/message.ts'
import { textMessage, toMessage, toMessages } from '../content/messages.ts'
import { parsePythonLiteral } from '../content/python-literal.ts'
import { fromRolePrefixes } from '../content/role-prefixes.ts'
import { outcomeOf } from '../outcome.ts'
import { unwrapBlocks } from '../content/parts.ts'
import { makeUsage, semconvConversationId, semconvUserId } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'

/**
 * Langfuse's own tracing: `langfuse.observation.type` says what an observation is, its input and output are whatever the
 * application passed, as text or as JSON. A plain `span` may be anything: it is the agent where nothing else is, and a tool
 * where a model asked for one of its name.
 */
export const langfuse: Dialect = {
  name: 'langfuse',

  namespaces: ['langfuse.'],
  kindKeys: ['langfuse.observation.type'],
  recognises: (scopeName, attributes) =>
    attributes['langfuse.observation.type'] !== undefined || scopeName === 'langfuse-sdk',

  roleOf(span): SpanRole {
    const type = span.attributes['langfuse.observation.type']
    const role = typeof type === 'string' ? (ROLES.get(type) ?? 'step') : 'entry'
    if (role !== 'entry') return role
    // LangChain's handler says which span is an agent's graph, and which a node of one.
    if (span.attributes[AGENT_NAME] === span.name) return 'agent'
    if (span.attributes[GRAPH_NODE] === span.name) return 'step'
    return isModelCall(span) ? 'model' : role
  },

  // A graph of agents: they hand over to one another.
  holdsOneRun: (span) => span.attributes[INTEGRATION] === 'langgraph',

  agent(span) {
    const role = langfuse.roleOf(span)
    if (role === 'agent' || role === 'entry') return { name: span.name }
    // `lc_agent_name` may be that of the agent whose tool started this one.
    const name = role === 'step' ? agentOfNode(span.attributes[CHECKPOINT]) : undefined
    return name === undefined ? undefined : { name }
  },
  conversationId: (span) => semconvConversationId(span.attributes),
  userId: (span) => semconvUserId(span.attributes),

  outcome(span): Outcome {
    // The status of the span stays unset; the level tells.
    if (span.attributes['langfuse.observation.level'] !== 'ERROR') return outcomeOf(span)
    const message = textOf(span.attributes['langfuse.observation.status_message'])
    // How LangGraph leaves a graph for its parent, and how it pauses: thrown, but no failures.
    if (message?.startsWith('ParentCommand') === true) return { status: 'ok' }
    if (message?.startsWith('GraphInterrupt') === true) return { status: 'unknown' }
    const aborted = message === 'This operation was aborted' || message === 'Request was aborted.'
    return { status: aborted ? 'aborted' : 'error', error: message === undefined ? {} : { message } }
  },

  input(span) {
    const value = jsonAttribute(span, 'langfuse.observation.input')
    const messages =
      typeof value === 'string' && langfuse.roleOf(span) === 'model' ? fromRolePrefixes(value) : undefined
    return messages ?? toInput(withoutTools(value))
  },

  output(span): readonly Message[] | undefined {
    const written = span.attributes['langfuse.observation.output']
    // A failed observation's output repeats the error.
    if (written === undefined || span.attributes['langfuse.observation.level'] === 'ERROR') return undefined
    const value = parseJson(written)
    const messages = toMessages(value)
    if (messages !== undefined) return messages
    if (isRecord(value) && (value.tool_calls !== undefined || value.content !== undefined)) {
      const message = toMessage({ ...value, role: 'assistant' })
      if (message !== undefined) return [message]
    }
    const text = typeof value === 'string' ? value : (onlyText(value) ?? toJsonText(written))
    return text === undefined || text === '' ? undefined : [textMessage('assistant', text)]
  },

  toolDefinitions(span) {
    const input = jsonAttribute(span, 'langfuse.observation.input')
    const tools = isRecord(input) ? input.tools : toolsAmong(input)
    return tools === undefined ? undefined : toToolDefinitions(tools)
  },

  systemInstructions(span) {
    const input = jsonAttribute(span, 'langfuse.observation.input')
    // The Responses API's instructions, and Anthropic's.
    return isRecord(input) ? (textOf(input.instructions) ?? textOf(input.system)) : undefined
  },

  model(span) {
    const model = textOf(span.attributes['langfuse.observation.model.name'])
    return model === undefined ? undefined : { model }
  },
  usage: (span) => usageOf(span.attributes['langfuse.observation.usage_details']),

  tool(span) {
    const id = textOf(toolMessageOf(span)?.tool_call_id)
    return { name: span.name, ...(id !== undefined && { id }) }
  },
  toolArguments: (span) => {
    const given = parseJson(span.attributes['langfuse.observation.input'])
    return typeof given === 'string' ? (parsePythonLiteral(given) ?? given) : given
  },
  toolResult(span) {
    const isError = span.attributes['langfuse.observation.level'] === 'ERROR'
    if (isError) return undefined
    const message = toolMessageOf(span)
    return message === undefined
      ? parseJson(span.attributes['langfuse.observation.output'])
      : unwrapBlocks(message.content)
  },

  absence(span, fact) {
    const isInput = INPUT_FACTS.has(fact)
    if (isInput && span.attributes['langfuse.observation.input'] !== undefined) {
      return fact === 'systemInstructions' ? undefined : { why: 'not-recorded' }
    }
    return {
      why: 'not-captured',
      switch: `observe(fn, { ${isInput ? 'captureInput' : 'captureOutput'}: true })`,
    }
  },

  contentKeys: [
    'langfuse.observation.input',
    'langfuse.observation.output',
    'langfuse.observation.status_message',
  ].concat(['langfuse.trace.input', 'langfuse.trace.output', 'langfuse.observation.metadata.*']),
}

/** What LangChain's handler knows of a span. */
const AGENT_NAME = 'langfuse.observation.metadata.lc_agent_name'
const GRAPH_NODE = 'langfuse.observation.metadata.langgraph_node'
const CHECKPOINT = 'langfuse.observation.metadata.langgraph_checkpoint_ns'
const INTEGRATION = 'langfuse.observation.metadata.ls_integration'

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['agent', 'agent'],
  ['generation', 'model'],
  ['tool', 'tool'],
  ['span', 'entry'],
  ['chain', 'entry'],
  ['evaluator', 'evaluator'],
])

const INPUT_FACTS: ReadonlySet<ContentFact> = new Set<ContentFact>([
  'input',
  'systemInstructions',
  'toolDefinitions',
  'toolArguments',
])

/** LangChain's handler writes the message that a tool gave back. */
function toolMessageOf(span: SourceSpan): Readonly<Record<string, unknown>> | undefined {
  const output = span.attributes['langfuse.observation.output']
  if (typeof output !== 'string' || !output.includes('"tool_call_id"')) return undefined
  return toolMessageFields(jsonAttribute(span, 'langfuse.observation.output'))
}

/** A plain span whose output is an assistant's message was around a call of a model; of one that failed the input tells. */
function isModelCall({ attributes }: SourceSpan): boolean {
  const output = attributes['langfuse.observation.output']
  if (typeof output === 'string' && output.startsWith('{"role":"assistant"')) return true
  if (attributes['langfuse.observation.level'] !== 'ERROR') return false
  const input = attributes['langfuse.observation.input']
  return typeof input === 'string' && REQUEST_STARTS.some((start) => input.startsWith(start))
}

/** System messages and names of models are given to models, not to agents. */
const REQUEST_STARTS = ['{"messages":[{"role":"system"', '[{"role":"system"', '{"model":"']

/** Text, messages, `{ messages }`, the arguments of an observed function, or an object with one text or list in it. */
function toInput(written: unknown): readonly Message[] | undefined {
  if (written === undefined) return undefined
  const value = parseJson(written)
  if (typeof value === 'string') return value === '' ? undefined : [textMessage('user', value)]
  const messages = toMessages(withToolRoles(value))
  if (messages !== undefined) return messages
  if (Array.isArray(value)) {
    const [first] = value
    if (typeof first === 'string') return [textMessage('user', first)]
    return toMessages(first)
  }
  if (isRecord(value)) {
    const inner = value.input ?? (Object.keys(value).length === 1 ? Object.values(value)[0] : undefined)
    if (typeof inner === 'string' || Array.isArray(inner)) return toInput(inner)
    return undefined
  }
  // A number, or `true`: the text that was asked.
  return typeof value === 'number' || typeof value === 'boolean' ? [textMessage('user', String(value))] : undefined
}

/** LangChain's handler for Python puts the tools that were offered behind the messages, as a tool's. */
function isTool(item: unknown): item is { readonly content: unknown } {
  return isRecord(item) && item.role === 'tool' && isRecord(item.content) && isRecord(item.content.function)
}

function toolsAmong(value: unknown): readonly unknown[] | undefined {
  const tools = Array.isArray(value) ? value.filter(isTool).map(({ content }) => content) : []
  return tools.length === 0 ? undefined : tools
}

function withoutTools(value: unknown): unknown {
  return toolsAmong(value) !== undefined && Array.isArray(value) ? value.filter((item) => !isTool(item)) : value
}

const USUAL_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

/** LangChain's handler writes the name of the tool as the role of its answer, and leaves out which call it answers. */
function withToolRoles(value: unknown): unknown {
  const list = isRecord(value) ? value.messages : value
  if (!Array.isArray(list) || !list.some((item) => isRecord(item) && !USUAL_ROLES.has(item.role))) return value
  const waiting: { readonly name: string; readonly id: string }[] = []
  return list.map((item: unknown) => {
    if (!isRecord(item)) return item
    for (const part of toMessage(item)?.parts ?? []) {
      if (part.type === 'tool_call' && part.id !== undefined) waiting.push({ name: part.name, id: part.id })
    }
    const at = waiting.findIndex(({ name }) => name === item.role)
    const [call] = at === -1 ? [] : waiting.splice(at, 1)
    return call === undefined ? item : { ...item, role: 'tool', tool_call_id: call.id }
  })
}

/** The text in `{ answer: '…' }`. */
function onlyText(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  const values = Object.values(value)
  return values.length === 1 ? textOf(values[0]) : undefined
}

/** Counts that may leave the cached ones out of `input`, and the reasoning out of `output`: the total tells. */
function usageOf(details: unknown): Usage {
  const counts = parseJson(details)
  if (!isRecord(counts)) return {}
  const input = numberOf(counts.input)
  const output = numberOf(counts.output)
  const read = numberOf(counts.input_cache_read ?? counts.input_cached_tokens ?? counts.cache_read_input_tokens)
  const write = numberOf(counts.input_cache_creation ?? counts.cache_creation_input_tokens)
  const reasoning = numberOf(counts.output_reasoning_tokens ?? counts.output_reasoning)
  const isWhole = numberOf(counts.total) === (input ?? 0) + (output ?? 0)
  if (isWhole) return makeUsage(input, output, read, write, reasoning)
  return makeUsage(
    input === undefined ? undefined : input + (read ?? 0) + (write ?? 0),
    output === undefined ? undefined : output + (reasoning ?? 0),
    read,
    write,
    reasoning,
  )
}

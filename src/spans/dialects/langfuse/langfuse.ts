import type { ContentFact, Dialect, SpanOutcome, SpanRole } from '../../dialect.ts'
import { asideKind, middlewareNode } from '../../asides.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../../json.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { retrievalOfKind, toDocuments } from '../../content/documents.ts'
import { agentOfNode, finalAnswer, graphRole, isWholeGraph, resumptionBy } from '../../content/langchain.ts'
import type { Message } from '../../../model/message.ts'
import { textMessage, toMessage, toMessages } from '../../content/messages.ts'
import { parsePythonLiteral } from '../../content/python-literal.ts'
import { fromRolePrefixes } from '../../content/role-prefixes.ts'
import { isInterrupt, outcomeOf, outcomeOfError, WAITING } from '../../outcome.ts'
import { unwrapBlocks } from '../../content/parts.ts'
import { toToolDefinitions } from '../../content/tool-definitions.ts'
import { isModelCall, onlyText, toInput, langfuseUsage } from './content.ts'
import { GRAPH_KEYS, metadataOf, toolMessageOf, toolsAmong, withoutTools } from './langchain.ts'

/**
 * Langfuse's own tracing: `langfuse.observation.type` is the kind of an observation; input and output are anything that the application
 * passed, as text or JSON. A plain `span` may be anything: it is the agent if nothing else is, and a tool if a model requested one of its
 * name.
 */
export const langfuse: Dialect = {
  name: 'langfuse',

  namespaces: ['langfuse.'],
  kindKeys: ['langfuse.observation.type', ...GRAPH_KEYS],
  recognises: (scopeName, attributes) =>
    attributes['langfuse.observation.type'] !== undefined || scopeName === 'langfuse-sdk',

  roleOf(span): SpanRole {
    const type = span.attributes['langfuse.observation.type']
    const role = typeof type === 'string' ? (ROLES.get(type) ?? 'step') : 'entry'
    if (role !== 'entry' && role !== 'agent') return role
    // LangChain's handler marks the spans of agents' graphs and of nodes.
    const inGraph = graphRole(span.name, metadataOf(span))
    if (inGraph !== undefined) return inGraph
    return role === 'entry' && isModelCall(span) ? 'model' : role
  },

  aside: (span) => asideKind(span.attributes['langfuse.observation.type']) ?? middlewareNode(span.name),

  // A graph whose agents hand over to one another.
  isSingleRun: (span) => isWholeGraph(metadataOf(span)),

  agent(span) {
    const role = langfuse.roleOf(span)
    if (role === 'agent' || role === 'entry') return { name: span.name }
    // `lc_agent_name` may name the agent whose tool started this one.
    const name = role === 'step' ? agentOfNode(metadataOf(span)) : undefined
    return name === undefined ? undefined : { name }
  },
  conversationKeys: ['langfuse.observation.metadata.sessionId', 'langfuse.observation.metadata.thread_id'],
  userKeys: ['langfuse.observation.metadata.userId'],

  outcome(span): SpanOutcome {
    const message = textOf(span.attributes['langfuse.observation.status_message'])
    if (message !== undefined && isInterrupt({ message })) return WAITING
    // The span's status stays unset; the level shows how it ended.
    if (span.attributes['langfuse.observation.level'] !== 'ERROR') return outcomeOf(span)
    // The exceptions of Python that stop the work from outside have no text, and LangChain's handler writes nothing else of one.
    const isStop = span.attributes['langfuse.observation.status_message'] === '' && langfuse.roleOf(span) !== 'tool'
    return isStop ? { status: 'aborted' } : outcomeOfError(message === undefined ? {} : { message })
  },

  input(span) {
    const value = jsonAttribute(span, 'langfuse.observation.input')
    const messages =
      typeof value === 'string' && langfuse.roleOf(span) === 'model' ? fromRolePrefixes(value) : undefined
    return messages ?? toInput(withoutTools(value))
  },

  resumption: (span) =>
    langfuse.roleOf(span) === 'model' ? undefined : resumptionBy(jsonAttribute(span, 'langfuse.observation.input')),

  output(span): readonly Message[] | undefined {
    const written = span.attributes['langfuse.observation.output']
    // The output of a failed observation repeats the error.
    if (written === undefined || span.attributes['langfuse.observation.level'] === 'ERROR') return undefined
    const value = parseJson(written)
    // The state of a LangGraph graph.
    if (isRecord(value) && Array.isArray(value.messages)) return finalAnswer(value, undefined)
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
    // The instructions of the Responses API and of Anthropic.
    return isRecord(input) ? (textOf(input.instructions) ?? textOf(input.system)) : undefined
  },

  model(span) {
    const model = textOf(span.attributes['langfuse.observation.model.name'])
    return model === undefined ? undefined : { model }
  },
  usage: (span) => langfuseUsage(span.attributes['langfuse.observation.usage_details']),

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

  retrieval: (span) =>
    retrievalOfKind(span.attributes['langfuse.observation.type'], () => span.attributes['langfuse.observation.input']),
  documents: (span) => toDocuments(jsonAttribute(span, 'langfuse.observation.output')),

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

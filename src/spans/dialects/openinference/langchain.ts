import type { Dialect, SpanRole } from '../../dialect.ts'
import { middlewareNode } from '../../asides.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord, parseJsonTwice, textOf } from '../../json.ts'
import {
  agentOfNode,
  finalAnswer,
  graphMetadata,
  graphRole,
  isWholeGraph,
  resumptionBy,
  toolMessageIn,
} from '../../content/langchain.ts'
import type { GraphMetadata } from '../../content/langchain.ts'
import { textMessage, toMessages } from '../../content/messages.ts'
import { flattenedMessages, shownJson, shownText } from './content.ts'
import { unwrapBlocks } from '../../content/parts.ts'
import { parsePythonLiteral } from '../../content/python-literal.ts'
import { replyMessages, requestMessages } from '../../content/payloads.ts'
import type { SourceSpan } from '../../source-span.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * LangChain and LangGraph through OpenInference: everything except models and tools is a CHAIN, including agents. The graph's metadata
 * shows which chain is an agent or a node, and for which agent a node runs. Payloads are LangChain's serialised objects, which have more
 * content than the flattened attributes.
 */
export const openInferenceLangChain: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName.includes('openinference') && scopeName.includes('langchain'),
  withoutScope: {
    readAs: openInference,
    isShownBy: (span) => /"(?:ls_|lc_|langgraph_|__pregel)/.test(textOf(span.attributes.metadata) ?? ''),
  },

  roleOf(span): SpanRole {
    const kind = kindOf(span)
    const own = openInference.roleOf(span)
    if (kind !== 'CHAIN' && kind !== 'AGENT') return own
    const metadata = metadataOf(span)
    // A graph that failed is a run, also if it did so before its first model call.
    if (span.status.code === 'error' && metadata.node === undefined && isWholeGraph(metadata)) return 'agent'
    // In Python, a chain is an agent if its name suggests it.
    return graphRole(span.name, metadata) ?? own
  },

  aside: (span) => middlewareNode(span.name) ?? openInference.aside?.(span),

  // The metadata, which distinguishes agents from other chains, is written when the span ends.
  mayBecomeAgent: (span) => kindOf(span) === 'CHAIN' && span.attributes.metadata === undefined,

  // A graph whose agents hand over to one another.
  isSingleRun: (span) => isWholeGraph(metadataOf(span)),

  agent(span) {
    const role = openInferenceLangChain.roleOf(span)
    const name = role === 'agent' || role === 'entry' ? textOf(span.name) : agentBehind(span)
    return name === undefined ? undefined : { name }
  },

  input(span) {
    const value = shownText(span.attributes['input.value'])
    // The question of the request that was interrupted is among the messages of the next model call.
    if (resumptionBy(shownJson(span, 'input.value')) !== undefined) return undefined
    return (
      requestMessages(shownJson(span, 'input.value')) ??
      flattenedMessages(span.attributes, 'llm.input_messages.') ??
      (value === undefined ? undefined : [textMessage('user', value)])
    )
  },

  output(span) {
    const value = shownJson(span, 'output.value')
    if (kindOf(span) === 'LLM') {
      return replyMessages(value) ?? flattenedMessages(span.attributes, 'llm.output_messages.')
    }
    return finalAnswer(value, shownText(span.attributes['output.value']))
  },

  resumption: (span) => resumptionBy(shownJson(span, 'input.value')),

  transcript(span) {
    const state = shownJson(span, 'output.value')
    return isRecord(state) && Array.isArray(state.messages) ? toMessages(state.messages) : undefined
  },

  tool(span) {
    const tool = openInference.tool?.(span)
    // The state that a chain returns may be long, and is no message of a tool.
    const id = kindOf(span) === 'TOOL' ? textOf(toolMessageIn(span, 'output.value')?.tool_call_id) : undefined
    return tool === undefined || id === undefined ? tool : { ...tool, id }
  },

  // A single text argument is written without its name: `Tokyo` for `{ city: 'Tokyo' }`. Only the model's call has the name.
  toolArguments(span) {
    if (span.attributes['input.mime_type'] === 'text/plain') return undefined
    const given = parseJsonTwice(shownText(span.attributes['input.value']))
    return typeof given === 'string' ? (parsePythonLiteral(given) ?? given) : given
  },

  toolResult(span) {
    const message = toolMessageIn(span, 'output.value')
    if (message !== undefined) return unwrapBlocks(message.content)
    const value = shownJson(span, 'output.value')
    return isRecord(value) && 'output' in value && Object.keys(value).length === 1 ? value.output : value
  },
}

function metadataOf(span: SourceSpan): GraphMetadata {
  const metadata = jsonAttribute(span, 'metadata')
  return graphMetadata((key) => (isRecord(metadata) ? metadata[key] : undefined))
}

function agentBehind(span: SourceSpan): string | undefined {
  const metadata = metadataOf(span)
  return metadata.agent ?? agentOfNode(metadata)
}

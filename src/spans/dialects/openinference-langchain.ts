import type { Dialect, Outcome, SpanRole } from '../dialect.ts'
import { isRecord, parseJson, parseJsonTwice, textOf, toJsonText } from '../json.ts'
import type { Message } from '../message.ts'
import { textMessage, toMessage, toMessages } from '../messages.ts'
import { flattenedMessages, shownText } from '../openinference-content.ts'
import { unwrapBlocks } from '../parts.ts'
import { replyMessages, requestMessages } from '../payloads.ts'
import type { SourceSpan } from '../source-span.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * LangChain and LangGraph through OpenInference: everything but models and tools is a CHAIN, the agent too. The graph's
 * metadata says which chain is an agent, which a node of a graph, and on whose behalf a node runs. Payloads are LangChain's
 * serialised objects, which hold more than the flattened attributes.
 */
export const openInferenceLangChain: Dialect = {
  ...openInference,

  recognises: (scopeName) => scopeName.includes('openinference') && scopeName.includes('langchain'),

  roleOf(span): SpanRole {
    const kind = kindOf(span)
    if (kind !== 'CHAIN') return openInference.roleOf(span)
    const metadata = span.attributes.metadata
    if (typeof metadata !== 'string') return 'entry'
    const name = JSON.stringify(span.name)
    if (metadata.includes(`"lc_agent_name":${name}`)) return 'agent'
    return metadata.includes(`"langgraph_node":${name}`) ? 'step' : 'entry'
  },

  // A graph of agents: they hand over to one another.
  holdsOneRun: (span) => {
    const { metadata } = span.attributes
    return typeof metadata === 'string' && metadata.includes('"ls_integration":"langgraph"')
  },

  agent(span) {
    const role = openInferenceLangChain.roleOf(span)
    const name = role === 'agent' || role === 'entry' ? textOf(span.name) : agentOfNode(span)
    return name === undefined ? undefined : { name }
  },

  input(span) {
    const value = shownText(span.attributes['input.value'])
    return (
      requestMessages(value) ??
      flattenedMessages(span.attributes, 'llm.input_messages.') ??
      (value === undefined ? undefined : [textMessage('user', value)])
    )
  },

  output(span) {
    const value = shownText(span.attributes['output.value'])
    if (kindOf(span) === 'LLM') {
      return replyMessages(value) ?? flattenedMessages(span.attributes, 'llm.output_messages.')
    }
    return finalAnswer(value)
  },

  transcript(span) {
    const state = parseJson(shownText(span.attributes['output.value']))
    return isRecord(state) && Array.isArray(state.messages) ? toMessages(state.messages) : undefined
  },

  tool(span) {
    const tool = openInference.tool?.(span)
    const id = textOf(toolMessageOf(span)?.tool_call_id)
    return tool === undefined || id === undefined ? tool : { ...tool, id }
  },

  // A single text argument stands without its name: `Tokyo` for `{ city: 'Tokyo' }`. Only the model's call knows the name.
  toolArguments: (span) =>
    span.attributes['input.mime_type'] === 'text/plain'
      ? undefined
      : parseJsonTwice(shownText(span.attributes['input.value'])),

  toolResult(span) {
    const message = toolMessageOf(span)
    if (message !== undefined) return unwrapBlocks(message.content)
    const value = parseJson(shownText(span.attributes['output.value']))
    return isRecord(value) && 'output' in value && Object.keys(value).length === 1 ? value.output : value
  },

  outcome(span): Outcome {
    const outcome = openInference.outcome?.(span) ?? { status: 'unknown' }
    // How LangGraph leaves a graph for its parent, and how it pauses: thrown, but no failures.
    if (outcome.error?.message?.startsWith('ParentCommand') === true) return { status: 'ok' }
    return outcome.error?.message?.startsWith('GraphInterrupt') === true ? { status: 'unknown' } : outcome
  },
}

/** The graph that a node belongs to: `lc_agent_name`, else the last but one in `triage-agent:<id>|agent:<id>`. */
function agentOfNode(span: SourceSpan): string | undefined {
  const metadata = parseJson(span.attributes.metadata)
  if (!isRecord(metadata)) return undefined
  const named = textOf(metadata.lc_agent_name)
  if (named !== undefined) return named
  const path = textOf(metadata.langgraph_checkpoint_ns)?.split('|') ?? []
  const graph = path.at(-2)?.split(':')[0]
  // A graph that a tool runs has no name in the path.
  return graph === 'tools' ? undefined : textOf(graph)
}

/** The fields of the `ToolMessage` that a tool gave back: alone, or the last in the update of a `Command`. */
function toolMessageOf(span: SourceSpan): Record<string, unknown> | undefined {
  const value = parseJson(shownText(span.attributes['output.value']))
  const output = isRecord(value) ? (value.output ?? value) : undefined
  if (!isRecord(output)) return undefined
  const update = isRecord(output.update) ? output.update.messages : undefined
  const message: unknown = Array.isArray(update) ? update.findLast((item) => toMessage(item)?.role === 'tool') : output
  if (!isRecord(message)) return undefined
  const fields = isRecord(message.kwargs) ? message.kwargs : message
  return 'tool_call_id' in fields ? fields : undefined
}

/** The answer in a graph's last state: the structured response, else the last message where the model said it. */
function finalAnswer(value: string | undefined): readonly Message[] | undefined {
  const state = parseJson(value)
  if (!isRecord(state)) return value === undefined ? undefined : [textMessage('assistant', value)]
  const structured = state.structuredResponse ?? state.structured_response
  if (structured !== undefined && structured !== null) {
    const text = toJsonText(structured)
    return text === undefined ? undefined : [textMessage('assistant', text)]
  }
  if (!Array.isArray(state.messages)) return replyMessages(state) ?? [textMessage('assistant', value ?? '')]
  const last = toMessage(state.messages.at(-1))
  return last?.role === 'assistant' ? [last] : undefined
}

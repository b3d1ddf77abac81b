import type { Resumption, SpanRole } from '../dialect.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../json.ts'
import type { Message } from '../../model/message.ts'
import type { SourceSpan } from '../source-span.ts'
import { jsonAttribute } from './json-attribute.ts'
import { textMessage, toMessage } from './messages.ts'
import { replyMessages } from './payloads.ts'

/** The values that LangChain and LangGraph record for a run, as in their callbacks: states, tool messages, commands. */

/**
 * The answer in a graph's last state: the structured response, or else the last message if the model wrote it.
 *
 * @param state the parsed value
 * @param text the value as written, if it is not JSON
 */
export function finalAnswer(state: unknown, text: string | undefined): readonly Message[] | undefined {
  if (!isRecord(state)) return text === undefined ? undefined : [textMessage('assistant', text)]
  const structured = state.structuredResponse ?? state.structured_response
  if (structured !== undefined && structured !== null) {
    const response = toJsonText(structured)
    return response === undefined ? undefined : [textMessage('assistant', response)]
  }
  if (!Array.isArray(state.messages)) return replyMessages(state) ?? [textMessage('assistant', toJsonText(state) ?? '')]
  const last = toMessage(state.messages.at(-1))
  return last?.role === 'assistant' ? [last] : undefined
}

/**
 * The fields of a tool's `ToolMessage` (`content`, `tool_call_id`, `name`, `status`), which may be the value itself, be under `output`, or
 * be the last one in the update of a `Command`.
 */
export function toolMessageFields(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const parsed = parseJson(value)
  const output = isRecord(parsed) ? (parsed.output ?? parsed) : undefined
  if (!isRecord(output)) return undefined
  const update = isRecord(output.update) ? output.update.messages : undefined
  const message: unknown = Array.isArray(update) ? update.findLast((item) => toMessage(item)?.role === 'tool') : output
  if (!isRecord(message)) return undefined
  // JavaScript writes `{ lc, id, kwargs }`, Python's `message_to_dict` `{ type, data }`.
  const fields = [message.kwargs, message.data].find(isRecord) ?? message
  return 'tool_call_id' in fields ? fields : undefined
}

/**
 * The fields of a tool's `ToolMessage` in an attribute. Placing a run asks this of every step, so the attribute is only parsed if it has the
 * key of such a message.
 */
export function toolMessageIn(span: SourceSpan, key: string): Readonly<Record<string, unknown>> | undefined {
  const written = span.attributes[key]
  const isNone = typeof written === 'string' && !written.includes('tool_call_id')
  return isNone ? undefined : toolMessageFields(jsonAttribute(span, key))
}

/** What LangChain and LangGraph say of a span in its metadata, which everything inside inherits. */
export interface GraphMetadata {
  /** The node of the graph in which it runs. */
  readonly node: string | undefined
  /** The name of the agent in which it runs, if the agent has one. */
  readonly agent: string | undefined
  /** What wrote the graph: `langgraph`, `langchain_create_agent`. */
  readonly integration: string | undefined
  /** The path of nodes in which it runs: `triage-agent:<id>|agent:<id>`. */
  readonly path: string | undefined
}

/** Reads the metadata of a span, whose values are texts, in Python also texts as JSON. */
export function graphMetadata(read: (key: string) => unknown): GraphMetadata {
  const value = (key: string): string | undefined => {
    const written = read(key)
    return textOf(typeof written === 'string' && written.startsWith('"') ? parseJson(written) : written)
  }
  return {
    node: value('langgraph_node'),
    agent: value('lc_agent_name'),
    integration: value('ls_integration'),
    path: value('langgraph_checkpoint_ns'),
  }
}

/** The role of a chain by its metadata, whatever its own name suggests. `undefined` for one outside of any node. */
export function graphRole(name: string, { agent, node }: GraphMetadata): SpanRole | undefined {
  if (agent === name) return 'agent'
  if (node === undefined) return undefined
  return node === name ? 'step' : 'entry'
}

/** Whether a chain is a whole graph, whose agents hand over to one another: the outermost one, or one that a tool runs. */
export function isWholeGraph({ integration, node }: GraphMetadata): boolean {
  return integration === 'langgraph' && (node === undefined || node === 'tools')
}

/** The agent for which a node of a graph runs: the next to last part of its path. */
export function agentOfNode({ path }: GraphMetadata): string | undefined {
  const graph = path?.split('|').at(-2)?.split(':')[0]
  // A graph that a tool runs has no name in the path. A node's second graph has a number.
  return graph === undefined || /^(?:tools|\d+)$/.test(graph) ? undefined : textOf(graph)
}

/** The agent name on the first named message in a state, or in an update of one. */
export function agentNameIn(value: unknown): string | undefined {
  const state = parseJson(value)
  if (!isRecord(state)) return undefined
  const [command] = Array.isArray(state.output) ? (state.output as readonly unknown[]) : []
  const holder = isRecord(command) && isRecord(command.update) ? command.update : state
  if (!Array.isArray(holder.messages)) return undefined
  for (const item of holder.messages) {
    const message = toMessage(item)
    if (message?.role === 'assistant' && message.name !== undefined) return textOf(message.name)
  }
  return undefined
}

/**
 * How a graph goes on after an interrupt, if it was given LangGraph's `Command`. LangChain's middleware for approvals takes a decision for each call
 * that it asked about.
 */
export function resumptionBy(command: unknown): Resumption | undefined {
  if (!isRecord(command) || !('resume' in command) || !('goto' in command)) return undefined
  const { resume } = command
  const decisions: unknown = isRecord(resume) ? resume.decisions : undefined
  if (!Array.isArray(decisions)) return {}
  return { refusals: decisions.map((decision: unknown) => isRecord(decision) && decision.type === 'reject') }
}

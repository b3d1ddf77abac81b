import type { Message, Part } from '../../../model/message.ts'
import { agentOfNode, graphMetadata, isWholeGraph } from '../../content/langchain.ts'
import type { GraphMetadata } from '../../content/langchain.ts'
import { makeMessage } from '../../content/messages.ts'
import type { SourceSpan } from '../../source-span.ts'

/** Differences of OpenLLMetry's Python packages from those for JavaScript. */

/** Python's decorators, and packages whose spans have no dialect of their own. */
export const PYTHON_SCOPE: RegExp = /^(?:traceloop\.tracer|opentelemetry\.instrumentation\.(?:openai\.v\d|langchain))$/

/** Whether this is the OpenAI Agents SDK: a workflow for the whole trace, with all agents as siblings below it. */
export function isAgentsSdk({ scope }: SourceSpan): boolean {
  return scope.name === 'opentelemetry.instrumentation.openai_agents'
}

/** Whether its agents hand over to one another: a workflow of the OpenAI Agents SDK, or a graph of LangGraph. */
export function isSingleRun(span: SourceSpan): boolean {
  const { attributes } = span
  if (isAgentsSdk(span)) return attributes['traceloop.span.kind'] === 'workflow'
  return attributes['gen_ai.workflow.nodes'] !== undefined || isWholeGraph(metadataOf(span))
}

/** The agent for which a node of a graph runs. */
export function agentOfTask(span: SourceSpan): { readonly name: string } | undefined {
  const metadata = metadataOf(span)
  const name = metadata.agent ?? agentOfNode(metadata)
  return name === undefined ? undefined : { name }
}

function metadataOf({ attributes }: SourceSpan): GraphMetadata {
  return graphMetadata((key) => attributes[`traceloop.association.properties.${key}`])
}

/** In Python, a graph that a tool runs is written as a task, under the agent's name from its metadata. */
export function isPythonGraph(span: SourceSpan): boolean {
  const name = span.attributes['traceloop.association.properties.lc_agent_name']
  const isTask = span.attributes['traceloop.span.kind'] === 'task'
  return isTask && name !== undefined && name === span.attributes['traceloop.entity.name']
}

/** Whether this runs inside a tool of a graph in Python. It is a graph if models are below it; `create_react_agent` gives no other sign. */
export function isInTool(span: SourceSpan): boolean {
  const { attributes } = span
  return (
    attributes['traceloop.span.kind'] === 'task' &&
    attributes['traceloop.association.properties.langgraph_node'] === 'tools' &&
    attributes['traceloop.entity.name'] !== 'tools'
  )
}

/**
 * With the Responses API, Python identifies calls by item ids (`fc_…`) and results by call ids (`call_…`): a result without a matching call
 * belongs to the first call without a result.
 */
export function withIdsOfItems(messages: readonly Message[]): readonly Message[] {
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

import type { Message, Part } from '../../../model/message.ts'
import { makeMessage } from '../../content/messages.ts'
import type { SourceSpan } from '../../source-span.ts'

/** What OpenLLMetry's packages for Python write otherwise than those for JavaScript. */

/** Python's decorators, and those of its packages whose spans no other dialect knows better. */
export const PYTHON_SCOPE: RegExp = /^(?:traceloop\.tracer|opentelemetry\.instrumentation\.(?:openai\.v\d|langchain))$/

/** Of the OpenAI Agents SDK: a workflow for the whole trace, and all its agents side by side below that. */
export function isAgentsSdk({ scope }: SourceSpan): boolean {
  return scope.name === 'opentelemetry.instrumentation.openai_agents'
}

/** In Python a graph that a tool runs is written as a task, under the name that its metadata gives the agent. */
export function isPythonGraph(span: SourceSpan): boolean {
  const name = span.attributes['traceloop.association.properties.lc_agent_name']
  const isTask = span.attributes['traceloop.span.kind'] === 'task'
  return isTask && name !== undefined && name === span.attributes['traceloop.entity.name']
}

/** What a tool of a graph runs in Python: a graph, if models are below it; of `create_react_agent` nothing else says so. */
export function isInTool(span: SourceSpan): boolean {
  const { attributes } = span
  return (
    attributes['traceloop.span.kind'] === 'task' &&
    attributes['traceloop.association.properties.langgraph_node'] === 'tools' &&
    attributes['traceloop.entity.name'] !== 'tools'
  )
}

/**
 * Over the Responses API Python names calls by the ids of their items (`fc_…`), and answers by those of the calls
 * (`call_…`): an answer whose call is not there answers the first call that has no answer yet.
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

import { isRecord, parseJson, textOf, toJsonText } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { textMessage, toMessage } from './messages.ts'
import { replyMessages } from './payloads.ts'

/** What LangChain and LangGraph write as a run's value, in the shapes of their callbacks: states, tool messages, commands. */

/**
 * The answer in a graph's last state: the structured response, else the last message where the model said it.
 *
 * @param state The parsed value.
 * @param text The value as it was written.
 */
export function finalAnswer(state: unknown, text: string | undefined): readonly Message[] | undefined {
  if (!isRecord(state)) return text === undefined ? undefined : [textMessage('assistant', text)]
  const structured = state.structuredResponse ?? state.structured_response
  if (structured !== undefined && structured !== null) {
    const response = toJsonText(structured)
    return response === undefined ? undefined : [textMessage('assistant', response)]
  }
  if (!Array.isArray(state.messages)) return replyMessages(state) ?? [textMessage('assistant', text ?? '')]
  const last = toMessage(state.messages.at(-1))
  return last?.role === 'assistant' ? [last] : undefined
}

/**
 * The fields of the `ToolMessage` that a tool gave back (`content`, `tool_call_id`, `name`, `status`): alone, under
 * `output`, or the last in the update of a `Command`.
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

/** The agent on whose behalf a node of a graph runs: the last but one in `triage-agent:<id>|agent:<id>`. */
export function agentOfNode(checkpointNamespace: unknown): string | undefined {
  const path = textOf(checkpointNamespace)?.split('|') ?? []
  const graph = path.at(-2)?.split(':')[0]
  // A graph that a tool runs has no name in the path; the second that a node runs has a number.
  return graph === undefined || /^(?:tools|\d+)$/.test(graph) ? undefined : textOf(graph)
}

/** The name that an agent gave its messages, of the first message in a state, or in an update of one, that bears one. */
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

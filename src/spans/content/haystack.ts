import { isRecord, textOf } from '../json.ts'
import type { Message, Part, ToolDefinition } from '../../model/message.ts'
import { makeMessage, toRole } from './messages.ts'
import { toToolCallPart, toToolResponse } from './parts.ts'
import { asWritten } from './python-literal.ts'
import { questionIn } from './states.ts'
import { toToolDefinitions } from './tool-definitions.ts'

/**
 * Haystack's chat messages, as the library writes them, `{ role, content: [{ text }, { tool_call }, { tool_call_result }] }`, and as
 * Python prints them, `ChatMessage(_role=…, _content=[…])`. `undefined` where the value is no list of them.
 */
export function haystackMessages(value: unknown): readonly Message[] | undefined {
  if (!Array.isArray(value)) return undefined
  const messages = value.flatMap((item) => haystackMessage(item) ?? [])
  return messages.length === 0 ? undefined : messages
}

/** One of them. */
export function haystackMessage(value: unknown): Message | undefined {
  const message = asWritten(value)
  if (!isRecord(message)) return undefined
  const { _role: printedRole, _content: printedContent, _name: printedName } = message
  const role = textOf(message.role) ?? textOf(printedRole)
  const content = message.content ?? printedContent
  if (role === undefined || !Array.isArray(content)) return undefined
  const name = textOf(message.name) ?? textOf(printedName)
  return makeMessage(toRole(role), content.map(toHaystackPart), name)
}

/** The question that a pipeline was given, `{ prompt: { question } }`, if its components were given one. */
export function pipelineQuestion(data: unknown): readonly Message[] | undefined {
  const found = isRecord(data)
    ? Object.values(data).flatMap((given) => (isRecord(given) ? (questionIn(given) ?? []) : []))
    : []
  return new Set(found.map(({ text }) => text)).size === 1 ? found.slice(0, 1) : undefined
}

/** The reply of the only component of a pipeline that has one, `{ llm: { replies: […] } }`. */
export function pipelineReplies(output: unknown): readonly Message[] | undefined {
  const replies = isRecord(output)
    ? Object.values(output).flatMap((given) => (isRecord(given) ? [given.replies] : []))
    : []
  const messages = replies.map(haystackMessages).filter((found) => found !== undefined)
  return messages.length === 1 ? messages[0] : undefined
}

/** The tools that were offered, in the same two forms. */
export function haystackTools(value: unknown): readonly ToolDefinition[] | undefined {
  const list = asWritten(value)
  if (!Array.isArray(list)) return undefined
  const tools = list.map(asWritten).filter(isRecord)
  // A tool of the library is `{ type, data: { name, … } }` when it is written.
  return toToolDefinitions(tools.map((tool) => (isRecord(tool.data) ? tool.data : tool)))
}

function toHaystackPart(value: unknown): Part {
  if (!isRecord(value)) return { type: 'unknown', value }
  const call = isRecord(value.tool_call) ? value.tool_call : value
  if (typeof call.tool_name === 'string') {
    const part = toToolCallPart({ id: call.id, name: call.tool_name, arguments: call.arguments })
    return part ?? { type: 'unknown', value }
  }
  const result = isRecord(value.tool_call_result) ? value.tool_call_result : value
  if (isRecord(result.origin)) {
    return toToolResponse(textOf(result.origin.id), asWritten(result.result), result.error === true)
  }
  return typeof value.text === 'string' ? { type: 'text', content: value.text } : { type: 'unknown', value }
}

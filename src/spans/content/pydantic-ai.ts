import { isRecord, textOf } from '../json.ts'
import type { Message, Part } from '../../model/message.ts'
import { makeMessage } from './messages.ts'
import { toMessageParts, toToolCallPart, toToolResponse } from './parts.ts'

/**
 * Pydantic AI's own messages: requests and responses with parts of a `part_kind`. A request may have parts of several roles. `undefined` if
 * the value is no list of them.
 */
export function pydanticAiMessages(value: unknown): readonly Message[] | undefined {
  if (!Array.isArray(value) || !value.every(isPydanticMessage)) return undefined
  const messages = value.flatMap((message) => messagesOf(message))
  return messages.length === 0 ? undefined : messages
}

/** Whether this is a request to a model or its response. */
export function isPydanticMessage(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Array.isArray(value.parts) && (value.kind === 'request' || value.kind === 'response')
}

function messagesOf(message: Record<string, unknown>): Message[] {
  const parts: readonly unknown[] = Array.isArray(message.parts) ? message.parts : []
  const instructions = textOf(message.instructions)
  const system = instructions === undefined ? [] : [makeMessage('system', [{ type: 'text', content: instructions }])]
  if (message.kind === 'response') return [makeMessage('assistant', parts.flatMap(toResponsePart))]
  return [...system, ...parts.flatMap(toRequestMessage)]
}

function toResponsePart(part: unknown): Part[] {
  if (!isRecord(part)) return []
  switch (part.part_kind) {
    case 'text':
      return [{ type: 'text', content: textOf(part.content) ?? '' }]
    case 'thinking':
      return [{ type: 'reasoning', content: textOf(part.content) ?? '' }]
    case 'tool-call':
    case 'builtin-tool-call':
    case 'native-tool-call': {
      const call = toToolCallPart({ name: part.tool_name, id: part.tool_call_id, arguments: part.args })
      return call === undefined ? [] : [part.part_kind === 'tool-call' ? call : { ...call, providerExecuted: true }]
    }
    case 'builtin-tool-return':
    case 'native-tool-return':
      return [toToolResponse(textOf(part.tool_call_id), part.content)]
    default:
      return [{ type: 'unknown', value: part }]
  }
}

function toRequestMessage(part: unknown): Message[] {
  if (!isRecord(part)) return []
  const content = Array.isArray(part.content) ? part.content.flatMap(toMessageParts) : toMessageParts(part.content)
  switch (part.part_kind) {
    case 'system-prompt':
      return [makeMessage('system', content)]
    case 'user-prompt':
      return [makeMessage('user', content)]
    case 'tool-return':
    case 'retry-prompt': {
      // A retry without a tool tells the model what was wrong with its answer.
      if (part.tool_name === null || part.tool_name === undefined) return [makeMessage('user', content)]
      const isError = part.part_kind === 'retry-prompt'
      return [makeMessage('tool', [toToolResponse(textOf(part.tool_call_id), part.content, isError)])]
    }
    default:
      return []
  }
}

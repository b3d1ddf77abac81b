import { isRecord } from '../json.ts'
import type { Message, Part } from '../../model/message.ts'
import { makeMessage } from './messages.ts'

/** Gemini's client wraps the return value of a function that it calls in `{ result }`, and its error in `{ error }`. */
export function withFunctionResults(message: Message): Message {
  if (!message.parts.some((part) => part.type === 'tool_call_response')) return message
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'tool_call_response' || !isRecord(part.response)) return part
    const entries = Object.entries(part.response)
    const [[key, value] = ['', undefined]] = entries
    if (entries.length !== 1 || (key !== 'result' && key !== 'error')) return part
    return { ...part, response: value, ...(key === 'error' && { isError: true }) }
  })
  return makeMessage(message.role, parts, message.name)
}

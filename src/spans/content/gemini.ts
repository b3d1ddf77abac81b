import { isRecord } from '../json.ts'
import type { Message, Part } from '../../model/message.ts'
import { makeMessage } from './messages.ts'

/** The message with the search that Gemini made for it, which is only in the metadata of the answer. */
export function withGrounding(message: Message, reply: Readonly<Record<string, unknown>>): Message {
  const metadata = reply.groundingMetadata ?? reply.grounding_metadata
  if (!isRecord(metadata)) return message
  const queries = metadata.webSearchQueries ?? metadata.web_search_queries
  if (!Array.isArray(queries) || queries.length === 0) return message
  const found = metadata.groundingChunks ?? metadata.grounding_chunks
  const search: Part[] = [
    { type: 'tool_call', name: 'google_search', arguments: { queries }, providerExecuted: true },
    { type: 'tool_call_response', ...(found !== undefined && { response: found }) },
  ]
  return makeMessage(message.role, [...search, ...message.parts], message.name)
}

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

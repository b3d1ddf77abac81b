import { isRecord, parseJson } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { toMessage } from './messages.ts'

/**
 * Reassembles the message of an OpenAI chat completions stream from its chunks (`choices[0].delta`), as JSON text or values. `undefined` if
 * the list contains none.
 */
export function messageOfChunks(list: readonly unknown[]): Message | undefined {
  let content = ''
  let isStream = false
  const calls = new Map<number, { id?: unknown; name: string; arguments: string }>()
  for (const item of list) {
    const delta = deltaOf(parseJson(item))
    if (delta === undefined) continue
    isStream = true
    if (typeof delta.content === 'string') content += delta.content
    if (Array.isArray(delta.tool_calls)) for (const part of delta.tool_calls) addCall(calls, part)
  }
  if (!isStream) return undefined
  const toolCalls = [...calls.values()].map(({ id, ...rest }) => ({ id, type: 'function', function: rest }))
  return toMessage({ role: 'assistant', content, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) })
}

function deltaOf(chunk: unknown): Record<string, unknown> | undefined {
  if (!isRecord(chunk) || !Array.isArray(chunk.choices)) return undefined
  const [choice] = chunk.choices as readonly unknown[]
  return isRecord(choice) && isRecord(choice.delta) ? choice.delta : undefined
}

/** The first chunk of a call has its id and name, and each further one a piece of its arguments. */
function addCall(calls: Map<number, { id?: unknown; name: string; arguments: string }>, part: unknown): void {
  if (!isRecord(part) || !isRecord(part.function)) return
  const index = typeof part.index === 'number' ? part.index : calls.size
  const call = calls.get(index) ?? { id: part.id, name: '', arguments: '' }
  calls.set(index, call)
  if (typeof part.function.name === 'string') call.name += part.function.name
  if (typeof part.function.arguments === 'string') call.arguments += part.function.arguments
}

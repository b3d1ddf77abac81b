import type { Dialect } from '../dialect.ts'
import { isRecord, parseJson } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { makeMessage } from '../content/messages.ts'
import { toToolCallPart } from '../content/parts.ts'
import { genAi } from './gen-ai.ts'

/**
 * Koog (Kotlin): the conventions of old, with calls of tools as JSON text in the place of words. In requests a call has the role of
 * the tool that it calls, and the answer that follows it has no id.
 */
export const koog: Dialect = {
  ...genAi,
  name: 'koog',

  recognises: (scopeName) => scopeName === 'ai.koog' || scopeName.startsWith('ai.koog.'),

  input: (span, logs) => withCalls(genAi.input?.(span, logs)),
  output: (span, logs) => withCalls(genAi.output?.(span, logs)),
}

/** Makes calls of the texts that hold them, and gives the answers the ids of the calls that they follow. */
function withCalls(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  const waiting: string[] = []
  return messages?.map((message) => {
    const calls = callsIn(message)
    if (calls !== undefined) {
      waiting.push(...calls.flatMap((call) => call.id ?? []))
      return makeMessage('assistant', calls)
    }
    const [part] = message.parts
    if (part?.type !== 'tool_call_response' || part.id !== undefined) return message
    const id = waiting.shift()
    return id === undefined ? message : makeMessage('tool', [{ ...part, id }])
  })
}

/** `[{ "function": { name, arguments }, "id", "type": "function" }]` */
function callsIn({ role, parts }: Message): NonNullable<ReturnType<typeof toToolCallPart>>[] | undefined {
  const [part] = parts
  if (parts.length !== 1 || (role !== 'assistant' && role !== 'tool')) return undefined
  const value =
    part?.type === 'text' ? parseJson(part.content) : part?.type === 'tool_call_response' ? part.response : undefined
  if (!Array.isArray(value) || value.length === 0) return undefined
  const calls = value.flatMap((item: unknown) =>
    isRecord(item) && item.type === 'function' && isRecord(item.function) ? (toToolCallPart(item) ?? []) : [],
  )
  return calls.length === value.length ? calls : undefined
}

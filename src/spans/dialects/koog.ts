import type { Dialect } from '../dialect.ts'
import { isRecord, parseJson } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { makeMessage } from '../content/messages.ts'
import { toToolCallPart } from '../content/parts.ts'
import type { SourceSpan } from '../source-span.ts'
import { genAi } from './gen-ai.ts'

/**
 * Koog (Kotlin). Up to 0.5 it writes the old conventions, with tool calls as JSON text in place of the answer: in requests, a call has the
 * role of its tool, and the following result has no id. Later versions write `gen_ai.input.messages`. Unless the feature is verbose, all
 * content is replaced by a placeholder.
 */
export const koog: Dialect = {
  ...genAi,
  name: 'koog',

  namespaces: [],
  recognises: (scopeName) => scopeName === 'ai.koog' || scopeName.startsWith('ai.koog.'),

  systemInstructions: (span, logs) => genAi.systemInstructions?.(shown(span), logs),
  input: (span, logs) => withCalls(genAi.input?.(shown(span), logs)),
  output: (span, logs) => withCalls(genAi.output?.(shown(span), logs)),
  toolDefinitions: (span, logs) => genAi.toolDefinitions?.(shown(span), logs),
  toolArguments: (span, logs) => genAi.toolArguments?.(shown(span), logs),
  toolResult: (span, logs) => genAi.toolResult?.(shown(span), logs),

  absence: (span, fact, logs) =>
    shown(span) === span ? genAi.absence?.(span, fact, logs) : { why: 'not-captured', switch: 'setVerbose(true)' },

  ownContentKeys: [...(genAi.ownContentKeys ?? []), 'system_instructions', 'koog.node.input', 'koog.node.output'],
}

/** Placeholder for content. */
const HIDDEN = 'HIDDEN:non-empty'

/** Returns the span without attributes and events whose content is hidden, or the span itself if nothing is. */
function shown(span: SourceSpan): SourceSpan {
  const attributes = Object.entries(span.attributes)
  const ofSpan = attributes.filter(([, value]) => value !== HIDDEN)
  const events = span.events.filter((event) => !Object.values(event.attributes).includes(HIDDEN))
  if (ofSpan.length === attributes.length && events.length === span.events.length) return span
  return { ...span, attributes: Object.fromEntries(ofSpan), events }
}

/** Converts texts with calls into calls, and gives each result the id of the preceding call. */
function withCalls(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  const waiting: string[] = []
  return messages?.map((message) => {
    if (message.role === 'Reasoning') return toReasoning(message)
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

/** Reasoning has a role of its own. */
function toReasoning(message: Message): Message {
  return makeMessage('assistant', [{ type: 'reasoning', content: message.text ?? '' }])
}

/** `[{ "function": { name, arguments }, "id", "type": "function" }]` */
function callsIn({ role, parts }: Message): NonNullable<ReturnType<typeof toToolCallPart>>[] | undefined {
  const own = parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []))
  if (own.length > 0) return role === 'tool' ? own : undefined
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

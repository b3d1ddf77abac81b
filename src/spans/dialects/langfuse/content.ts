import { isRecord, numberOf, parseJson, textOf } from '../../json.ts'
import type { Message, Usage } from '../../../model/message.ts'
import { textMessage, toMessages } from '../../content/messages.ts'
import { questionIn } from '../../content/states.ts'
import { makeUsage } from '../../semconv.ts'
import type { SourceSpan } from '../../source-span.ts'
import { withToolRoles } from './langchain.ts'

/** Content of observations: anything that the application passed, as text or JSON. */

/** A plain span is a model call if its output is an assistant message; if it failed, its input decides. */
export function isModelCall({ attributes }: SourceSpan): boolean {
  const output = attributes['langfuse.observation.output']
  if (typeof output === 'string' && output.startsWith('{"role":"assistant"')) return true
  if (attributes['langfuse.observation.level'] !== 'ERROR') return false
  const input = attributes['langfuse.observation.input']
  return typeof input === 'string' && REQUEST_STARTS.some((start) => input.startsWith(start))
}

/** Only models, not agents, receive system messages and model names. */
const REQUEST_STARTS = ['{"messages":[{"role":"system"', '[{"role":"system"', '{"model":"']

/** Accepts text, messages, `{ messages }`, the arguments of an observed function, or an object with one text or list. */
export function toInput(written: unknown): readonly Message[] | undefined {
  if (written === undefined) return undefined
  const value = parseJson(written)
  if (typeof value === 'string') return value === '' ? undefined : [textMessage('user', value)]
  const messages = toMessages(withToolRoles(value))
  if (messages !== undefined) return messages
  if (Array.isArray(value)) {
    const [first] = value
    if (typeof first === 'string') return [textMessage('user', first)]
    return toMessages(first)
  }
  if (isRecord(value)) {
    const inner = value.input ?? (Object.keys(value).length === 1 ? Object.values(value)[0] : undefined)
    if (typeof inner === 'string' || Array.isArray(inner)) return toInput(inner)
    return questionIn(value)
  }
  // A number or `true` is the question as text.
  return typeof value === 'number' || typeof value === 'boolean' ? [textMessage('user', String(value))] : undefined
}

/** The text in `{ answer: '…' }`. */
export function onlyText(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  const values = Object.values(value)
  return values.length === 1 ? textOf(values[0]) : undefined
}

/** `input` may exclude cached tokens and `output` reasoning tokens; the total shows it. */
export function langfuseUsage(details: unknown): Usage {
  const counts = parseJson(details)
  if (!isRecord(counts)) return {}
  const input = numberOf(counts.input)
  const output = numberOf(counts.output)
  const read = numberOf(counts.input_cache_read ?? counts.input_cached_tokens ?? counts.cache_read_input_tokens)
  const write = numberOf(counts.input_cache_creation ?? counts.cache_creation_input_tokens)
  const reasoning = numberOf(counts.output_reasoning_tokens ?? counts.output_reasoning)
  const isWhole = numberOf(counts.total) === (input ?? 0) + (output ?? 0)
  if (isWhole) return makeUsage(input, output, read, write, reasoning)
  return makeUsage(
    input === undefined ? undefined : input + (read ?? 0) + (write ?? 0),
    output === undefined ? undefined : output + (reasoning ?? 0),
    read,
    write,
    reasoning,
  )
}

import { isRecord } from '../../json.ts'
import type { Message, ToolDefinition } from '../../../model/message.ts'
import { textMessage, toMessages } from '../../content/messages.ts'
import { requestMessages } from '../../content/payloads.ts'
import { questionIn } from '../../content/states.ts'
import type { SourceSpan } from '../../source-span.ts'
import { toToolDefinitions } from '../../content/tool-definitions.ts'

/** Inputs of decorated functions, and what requests have besides the conventions' attributes. */

/** The input of a function: `{ args, kwargs }` of decorated functions, or the state of a graph. */
export function fromEntityInput(value: unknown): readonly Message[] | undefined {
  if (!isRecord(value)) return typeof value === 'string' ? [textMessage('user', value)] : requestMessages(value)
  // LangChain's callbacks for Python write `{ inputs, tags, metadata, kwargs }`.
  if (isRecord(value.inputs) && 'kwargs' in value) return requestMessages(value.inputs) ?? questionIn(value.inputs)
  if (!Array.isArray(value.args)) return requestMessages(value) ?? fromOnlyText(Object.values(value))
  const [first] = value.args as readonly unknown[]
  if (typeof first === 'string') return [textMessage('user', first)]
  return requestMessages(first) ?? (isRecord(value.kwargs) ? fromKwargs(value.kwargs) : undefined)
}

function fromKwargs(kwargs: Record<string, unknown>): readonly Message[] | undefined {
  return requestMessages(kwargs) ?? fromOnlyText(Object.values(kwargs))
}

function fromOnlyText(values: readonly unknown[]): readonly Message[] | undefined {
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? [textMessage('user', only)] : undefined
}

/** The Responses API's list of items is JSON text in one user message. */
export function fromResponsesInput(messages: readonly Message[]): readonly Message[] {
  const only = messages.length === 1 ? messages[0] : undefined
  if (only?.role !== 'user' || only.text?.startsWith('[{') !== true) return messages
  return toMessages(only.text) ?? messages
}

/** Reads `llm.request.functions.N.name`, with the schema as `parameters` (Python) or `arguments` (JavaScript). */
export function indexedFunctions(span: SourceSpan): readonly ToolDefinition[] | undefined {
  const functions = new Map<number, Record<string, unknown>>()
  for (const key in span.attributes) {
    const match = /^llm\.request\.functions\.(\d+)\.(name|description|parameters|arguments)$/.exec(key)
    if (match === null) continue
    const field = match[2] === 'arguments' ? 'parameters' : (match[2] ?? '')
    const definition = functions.get(Number(match[1])) ?? {}
    functions.set(Number(match[1]), definition)
    definition[field] = span.attributes[key]
  }
  const sorted = [...functions].toSorted(([left], [right]) => left - right)
  return sorted.length === 0 ? undefined : toToolDefinitions(sorted.map(([, definition]) => definition))
}

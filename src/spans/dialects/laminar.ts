import type { Dialect, SpanRole } from '../dialect.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../json.ts'
import { textMessage } from '../content/messages.ts'
import { outcomeWithExceptions } from '../outcome.ts'
import { replyMessages, requestMessages } from '../content/payloads.ts'
import { genAi } from './gen-ai.ts'

/**
 * Laminar's own spans, written by `observe`: `lmnr.span.type` if they are more than a function, and input and output as text or JSON. Its
 * model spans come from the instrumentations that it includes.
 */
export const laminar: Dialect = {
  ...genAi,
  name: 'laminar',

  kindKeys: ['lmnr.span.path'],
  namespaces: [],
  recognises: (scopeName) => scopeName === 'lmnr.tracer',

  roleOf(span): SpanRole {
    const type = span.attributes['lmnr.span.type']
    return typeof type === 'string' ? (ROLES.get(type) ?? 'entry') : 'entry'
  },

  agent: (span) => (laminar.roleOf(span) === 'entry' && span.name !== '' ? { name: span.name } : undefined),
  conversationKeys: ['lmnr.association.properties.session_id'],
  userKeys: ['lmnr.association.properties.user_id'],

  // A function that threw has an exception event and no status.
  outcome: (span) => outcomeWithExceptions(span),

  input(span) {
    const value = onlyArgument(jsonAttribute(span, 'lmnr.span.input'))
    const text = textOf(value)
    return text === undefined ? (requestMessages(value) ?? genAi.input?.(span, [])) : [textMessage('user', text)]
  },

  output(span) {
    const value = jsonAttribute(span, 'lmnr.span.output')
    const text = textOf(value)
    if (text !== undefined) return [textMessage('assistant', text)]
    const json = toJsonText(value)
    return replyMessages(value) ?? (json === undefined ? genAi.output?.(span, []) : [textMessage('assistant', json)])
  },

  tool: (span) => (span.name === '' ? undefined : { name: span.name }),
  toolArguments: (span) => parseJson(span.attributes['lmnr.span.input']),
  toolResult: (span) => parseJson(span.attributes['lmnr.span.output']),

  absence: (_span, fact) => ({
    why: 'not-captured',
    switch:
      fact === 'output' || fact === 'toolResult'
        ? 'observe({ ignoreOutput: false })'
        : 'observe({ ignoreInput: false })',
  }),

  contentKeys: ['lmnr.span.input', 'lmnr.span.output'],
}

/** Python writes the arguments of a function by name: the text of a single one is the question. */
function onlyArgument(value: unknown): unknown {
  const [only, ...others] = isRecord(value) ? Object.values(value) : []
  return typeof only === 'string' && others.length === 0 ? only : value
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['LLM', 'model'],
  ['CACHED', 'model'],
  ['TOOL', 'tool'],
  ['EVALUATOR', 'evaluator'],
  ['HUMAN_EVALUATOR', 'evaluator'],
  ['EVALUATION', 'evaluator'],
])

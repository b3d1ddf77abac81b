import type { Dialect, SpanRole } from '../dialect.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { withoutIdentity } from '../content/adk.ts'
import { makeMessage, systemTextOf, textMessage } from '../content/messages.ts'
import { toToolCallPart } from '../content/parts.ts'
import { operationOf } from '../semconv.ts'
import { genAi } from './gen-ai.ts'

/**
 * any-agent's own tracer, which writes the same spans for every framework: the conventions' attributes, `call_llm` for model calls, and the
 * outputs of models and tools in `gen_ai.output`. Only the first model call has its messages.
 */
export const anyAgent: Dialect = {
  ...genAi,
  name: 'any-agent',

  namespaces: [],
  recognises: (scopeName) => scopeName === 'any_agent',
  withoutScope: { readAs: genAi, isShownBy: (span) => operationOf(span.attributes) === 'call_llm' },

  roleOf(span): SpanRole {
    if (operationOf(span.attributes) === 'call_llm') return 'model'
    return span.attributes['gen_ai.tool.name'] === ANSWER ? 'step' : genAi.roleOf(span)
  },

  systemInstructions(span, logs) {
    const text = systemTextOf(genAi.input?.(span, logs))
    return text === undefined ? undefined : textOf(withoutIdentity(text))
  },

  input: (span, logs) => genAi.input?.(span, logs)?.map(withoutHeading),

  output(span): readonly Message[] | undefined {
    const written = textOf(span.attributes['gen_ai.output'])
    if (written === undefined) return undefined
    const calls = toCalls(parseJson(written))
    if (calls === undefined) return [textMessage('assistant', written)]
    const answer = calls.find((call) => call.name === ANSWER)?.arguments
    const text = isRecord(answer) ? textOf(toJsonText(answer.answer)) : undefined
    return [text === undefined ? makeMessage('assistant', calls) : textMessage('assistant', text)]
  },

  toolResult: (span) => parseJson(span.attributes['gen_ai.output']),

  absence: () => ({ why: 'not-recorded' }),

  contentKeys: [...(genAi.contentKeys ?? []), 'gen_ai.output'],
}

/** In some frameworks, the tool through which the model answers. */
const ANSWER = 'final_answer'

/** One framework adds this above the question. */
const HEADING = 'New task:\n'

function withoutHeading(message: Message): Message {
  const { role, text, parts } = message
  if (role !== 'user' || parts.length !== 1 || text?.startsWith(HEADING) !== true) return message
  return textMessage('user', text.slice(HEADING.length))
}

/** `[{ "tool.name": …, "tool.args": … }]` */
function toCalls(value: unknown): NonNullable<ReturnType<typeof toToolCallPart>>[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const calls = value.flatMap((item: unknown) =>
    isRecord(item) ? (toToolCallPart({ name: item['tool.name'], arguments: item['tool.args'] }) ?? []) : [],
  )
  return calls.length === value.length ? calls : undefined
}

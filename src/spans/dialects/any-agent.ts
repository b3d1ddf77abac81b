import type { Dialect, SpanRole } from '../dialect.ts'
import { isRecord, parseJson, textOf } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { makeMessage, textMessage } from '../content/messages.ts'
import { toToolCallPart } from '../content/parts.ts'
import { operationOf } from '../semconv.ts'
import { genAi } from './gen-ai.ts'

/**
 * any-agent's own tracer, which writes the same spans whatever framework runs the agent: the conventions' attributes, `call_llm` for
 * calls of a model, and what a model or a tool gave in `gen_ai.output`. Only the first call of a model holds its messages.
 */
export const anyAgent: Dialect = {
  ...genAi,
  name: 'any-agent',

  recognises: (scopeName) => scopeName === 'any_agent',

  roleOf: (span): SpanRole => (operationOf(span.attributes) === 'call_llm' ? 'model' : genAi.roleOf(span)),

  output(span): readonly Message[] | undefined {
    const written = textOf(span.attributes['gen_ai.output'])
    if (written === undefined) return undefined
    const calls = toCalls(parseJson(written))
    return [calls === undefined ? textMessage('assistant', written) : makeMessage('assistant', calls)]
  },

  toolResult: (span) => parseJson(span.attributes['gen_ai.output']),

  absence: () => ({ why: 'not-recorded' }),

  contentKeys: [...(genAi.contentKeys ?? []), 'gen_ai.output'],
}

/** `[{ "tool.name": …, "tool.args": … }]` */
function toCalls(value: unknown): NonNullable<ReturnType<typeof toToolCallPart>>[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const calls = value.flatMap((item: unknown) =>
    isRecord(item) ? (toToolCallPart({ name: item['tool.name'], arguments: item['tool.args'] }) ?? []) : [],
  )
  return calls.length === value.length ? calls : undefined
}

import type { Dialect, SpanRole } from '../../dialect.ts'
import { operationOf } from '../../semconv.ts'
import type { SourceSpan } from '../../source-span.ts'
import { genAi } from '../gen-ai.ts'

/**
 * Logfire's instrumentations of the OpenAI and Anthropic clients: the conventions, except for streams. A stream has two sibling spans: one
 * that ends when the stream starts, without an answer, and a log written as a span once it was read, with both request and answer.
 */
export const logfire: Dialect = {
  ...genAi,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'logfire.openai' || scopeName === 'logfire.anthropic',

  // Ignored together with the client's own span inside it.
  roleOf: (span): SpanRole => (isStreamBegun(span) ? 'evaluator' : genAi.roleOf(span)),

  // Everything is always recorded.
  absence: (span, fact, logs) =>
    fact === 'toolDefinitions' || genAi.absence?.(span, fact, logs) === undefined ? undefined : { why: 'not-recorded' },
}

/** A call that did not fail has an answer, unless it is a stream. */
function isStreamBegun({ attributes, status, events }: SourceSpan): boolean {
  return (
    operationOf(attributes) === 'chat' &&
    attributes['logfire.span_type'] === 'span' &&
    attributes['gen_ai.output.messages'] === undefined &&
    // Present without the answer if a collector removed that.
    attributes['gen_ai.usage.output_tokens'] === undefined &&
    // Only known at its end.
    attributes['gen_ai.response.model'] !== undefined &&
    status.code !== 'error' &&
    events.length === 0
  )
}

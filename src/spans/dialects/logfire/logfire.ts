import type { Dialect, SpanRole } from '../../dialect.ts'
import { operationOf } from '../../semconv.ts'
import type { SourceSpan } from '../../source-span.ts'
import { genAi } from '../gen-ai.ts'

/**
 * Logfire's instrumentations of the OpenAI and Anthropic clients: the conventions, but for streams, of which there are two spans
 * side by side: one that ends when the stream begins, without an answer, and a log written as a span when it is read, which
 * holds request and answer both.
 */
export const logfire: Dialect = {
  ...genAi,

  recognises: (scopeName) => scopeName === 'logfire.openai' || scopeName === 'logfire.anthropic',

  // With the span that the client itself writes inside.
  roleOf: (span): SpanRole => (isStreamBegun(span) ? 'evaluator' : genAi.roleOf(span)),

  // Everything is always recorded.
  absence: (span, fact, logs) =>
    fact === 'toolDefinitions' || genAi.absence?.(span, fact, logs) === undefined ? undefined : { why: 'not-recorded' },
}

/** A call that did not fail has an answer, unless it is a stream's. */
function isStreamBegun({ attributes, status, events }: SourceSpan): boolean {
  return (
    operationOf(attributes) === 'chat' &&
    attributes['logfire.span_type'] === 'span' &&
    attributes['gen_ai.output.messages'] === undefined &&
    // Not before it ends.
    attributes['gen_ai.response.model'] !== undefined &&
    status.code !== 'error' &&
    events.length === 0
  )
}

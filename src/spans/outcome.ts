import type { SpanOutcome } from './dialect.ts'
import { textOf } from './json.ts'
import type { RunError } from '../model/message.ts'
import type { SourceSpan } from './source-span.ts'

/**
 * How the work of a span ended, as OpenTelemetry says it: an error status, or an exception event where the status is not
 * `error` but was set (LangSmith sets `ok` first, and `ok` is final in the SDK). `unknown` where the span does not show it.
 */
export function outcomeOf(span: SourceSpan): SpanOutcome {
  const { code, message } = span.status
  const type = textOf(span.attributes['error.type'])
  if (code !== 'error' && type === undefined) return { status: code === 'ok' ? 'ok' : 'unknown' }
  const error = errorOf(span, type, textOf(message))
  return { status: isAbort(error) ? 'aborted' : 'error', error }
}

/** As `outcomeOf`, and an exception event alone is an error too. */
export function outcomeWithExceptions(span: SourceSpan): SpanOutcome {
  const outcome = outcomeOf(span)
  if (outcome.error !== undefined || exceptionOf(span) === undefined) return outcome
  const error = errorOf(span, undefined, undefined)
  return { status: isAbort(error) ? 'aborted' : 'error', error }
}

/** True for the errors with which JavaScript says that the caller gave up. */
export function isAbort(error: RunError): boolean {
  return error.type === 'AbortError' || error.type === 'ABORT_ERR' || error.message === 'This operation was aborted'
}

/** The last exception event, which is the one that ended the span. */
export function exceptionOf(span: SourceSpan): RunError | undefined {
  let last: Readonly<Record<string, unknown>> | undefined
  for (const event of span.events) if (event.name === 'exception') last = event.attributes
  if (last === undefined) return undefined
  const type = textOf(last['exception.type'])
  const message = textOf(last['exception.message'])
  return { ...(type !== undefined && { type }), ...(message !== undefined && { message }) }
}

function errorOf(span: SourceSpan, attributeType: string | undefined, statusMessage: string | undefined): RunError {
  const exception = exceptionOf(span)
  // The exception's own words first: some put the stack, or another's text, into the status message.
  const type = exception?.type ?? attributeType
  const message = exception?.message ?? withWords(statusMessage) ?? textOf(span.attributes['error.message'])
  return { ...(type !== undefined && { type }), ...(message !== undefined && { message }) }
}

/** Python's SDK writes `ValueError: ` where an exception has no words of its own. */
function withWords(message: string | undefined): string | undefined {
  return message !== undefined && /^\w{1,200}: ?$/.test(message) ? undefined : message
}

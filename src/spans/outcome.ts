import type { SpanOutcome } from './dialect.ts'
import { textOf } from './json.ts'
import type { RunError } from '../model/message.ts'
import type { SourceSpan } from './source-span.ts'

/**
 * How a span's work ended by OpenTelemetry's rules: an error status, or an exception event if another status was set (LangSmith sets `ok`
 * first, which is final in the SDK). `unknown` if the span does not show it.
 */
export function outcomeOf(span: SourceSpan): SpanOutcome {
  const { code, message } = span.status
  const type = textOf(span.attributes['error.type'])
  if (code !== 'error' && type === undefined) {
    // An interrupt is no failure, so that some instrumentations end its span successfully.
    const exception = span.events.length === 0 ? undefined : exceptionOf(span)
    if (exception !== undefined && isInterrupt(exception)) return WAITING
    return { status: code === 'ok' ? 'ok' : 'unknown' }
  }
  return outcomeOfError(errorOf(span, type, textOf(message)))
}

/** What an error says of how the work ended: some are thrown to wait, to go on elsewhere, or because the caller stopped the work. */
export function outcomeOfError(error: RunError): SpanOutcome {
  if (isInterrupt(error)) return WAITING
  if (isGraphCommand(error)) return { status: 'ok' }
  return { status: isAbort(error) ? 'aborted' : 'error', error }
}

/** Like `outcomeOf`, but an exception event alone is also an error. */
export function outcomeWithExceptions(span: SourceSpan): SpanOutcome {
  const outcome = outcomeOf(span)
  if (outcome.error !== undefined || exceptionOf(span) === undefined) return outcome
  return outcomeOfError(errorOf(span, undefined, undefined))
}

/** Whether this is an error by which a language or a client reports that the caller stopped the work, or left. */
export function isAbort({ type, message }: RunError): boolean {
  if (type !== undefined && ABORTS.test(type)) return true
  return (
    message !== undefined &&
    (ABORTED.has(message) || /^(?:GeneratorExit|CancelledError|context canceled)\b/.test(message))
  )
}

/** Of JavaScript, Python, .NET and the JVM. */
const ABORTS =
  /(?:^|\.)(?:AbortError|ABORT_ERR|APIUserAbortError|CancelledError|GeneratorExit|KeyboardInterrupt|(?:Operation|Task)CanceledException|CancellationException)$/

/** What clients in JavaScript write. */
const ABORTED: ReadonlySet<string> = new Set(['This operation was aborted', 'Request was aborted.'])

/** What was interrupted until somebody answers. */
export const WAITING: SpanOutcome = { status: 'waiting' }

/**
 * Whether this is the exception by which LangGraph interrupts a graph until somebody answers. Its type shows it, or the text in which some
 * handlers write an exception: `GraphInterrupt(…)`, `(Interrupt(value=…),)`.
 */
export function isInterrupt({ type, message }: RunError): boolean {
  if (type !== undefined && /(?:^|\.)(?:Graph|Node)Interrupt$/.test(type)) return true
  return message !== undefined && /^(?:(?:Graph|Node)Interrupt\b|\(Interrupt\(value=)/.test(message)
}

/** Whether this is the exception by which LangGraph leaves a graph to go on in the one around it, which is no failure. */
export function isGraphCommand({ type, message }: RunError): boolean {
  if (type !== undefined) return /(?:^|\.)ParentCommand$/.test(type)
  return message !== undefined && /^(?:ParentCommand\b|Command\(graph=)/.test(message)
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
  // The exception's own message comes first, because some libraries put the stack or another text into the status message.
  const type = exception?.type ?? attributeType
  const message = exception?.message ?? withWords(statusMessage) ?? textOf(span.attributes['error.message'])
  return { ...(type !== undefined && { type }), ...(message !== undefined && { message }) }
}

/** Python's SDK writes `ValueError: ` for an exception without a message. */
function withWords(message: string | undefined): string | undefined {
  return message !== undefined && /^\w{1,200}: ?$/.test(message) ? undefined : message
}

import type { Dialect, SpanOutcome } from '../../dialect.ts'
import { textOf } from '../../json.ts'
import { kindOf, openInference } from './openinference.ts'

/** Strands Agents whose own spans OpenInference's processor converts. A tool that failed says so in Strands' own attribute. */
export const openInferenceStrands: Dialect = {
  ...openInference,

  recognises: (scopeName, attributes) =>
    scopeName.startsWith('strands.telemetry') && attributes['openinference.span.kind'] !== undefined,

  outcome(span): SpanOutcome {
    const outcome = openInference.outcome?.(span) ?? { status: 'unknown' }
    if (outcome.error !== undefined || !isFailedTool(span.attributes)) return outcome
    const message = textOf(span.attributes['output.value'])
    return { status: 'error', error: message === undefined ? {} : { message } }
  },
  toolResult: (span, logs) => (isFailedTool(span.attributes) ? undefined : openInference.toolResult?.(span, logs)),

  // A cycle of the loop repeats the messages of its model call.
  roleOf: (span) => (kindOf(span) === 'CHAIN' ? 'step' : openInference.roleOf(span)),
}

function isFailedTool(attributes: Readonly<Record<string, unknown>>): boolean {
  return attributes['tool.status'] === 'error'
}

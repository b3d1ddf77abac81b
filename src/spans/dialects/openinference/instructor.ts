import type { Dialect, SpanRole } from '../../dialect.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * Instructor through OpenInference: one span for a structured answer, around the calls of the model's client if these are recorded too. It
 * has the messages of the request.
 */
export const openInferenceInstructor: Dialect = {
  ...openInference,

  recognises: (scopeName) => scopeName === 'openinference.instrumentation.instructor',
  withoutScope: {
    readAs: openInference,
    isShownBy: ({ attributes }) => attributes['instructor.response_model'] !== undefined,
    covers: (span) => kindOf(span) !== 'LLM',
  },

  // The span is named after the method.
  agent: () => undefined,

  roleOf: (span): SpanRole => (kindOf(span) === 'CHAIN' && isCall(span.attributes) ? 'model' : 'step'),
}

function isCall(attributes: Readonly<Record<string, unknown>>): boolean {
  return attributes['llm.input_messages.0.message.role'] !== undefined
}

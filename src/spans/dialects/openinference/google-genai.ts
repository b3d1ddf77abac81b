import type { Dialect } from '../../dialect.ts'
import { isRecord } from '../../json.ts'
import { withFunctionResults } from '../../content/gemini.ts'
import { toMessages } from '../../content/messages.ts'
import type { SourceSpan } from '../../source-span.ts'
import { shownJson } from './content.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * Google's Gemini client through OpenInference. The client may call Python functions itself. One span is then several model calls, and the
 * reply lists the calls in between.
 */
export const openInferenceGoogleGenAi: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'openinference.instrumentation.google_genai',

  transcript(span) {
    const reply = kindOf(span) === 'LLM' && listsCalls(span) ? shownJson(span, 'output.value') : undefined
    return isRecord(reply) ? toMessages(reply.automatic_function_calling_history)?.map(withFunctionResults) : undefined
  },
}

/** A cheap check before parsing. */
function listsCalls(span: SourceSpan): boolean {
  const value = span.attributes['output.value']
  return typeof value === 'string' && /"automatic_function_calling_history": ?\[/.test(value)
}

import type { Dialect } from '../../dialect.ts'
import { isRecord } from '../../json.ts'
import type { Message, Part } from '../../../model/message.ts'
import { makeMessage, toMessages } from '../../content/messages.ts'
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
    return isRecord(reply) ? toMessages(reply.automatic_function_calling_history)?.map(withResults) : undefined
  },
}

/** A cheap check before parsing. */
function listsCalls(span: SourceSpan): boolean {
  const value = span.attributes['output.value']
  return typeof value === 'string' && /"automatic_function_calling_history": ?\[/.test(value)
}

/** The client wraps a function's return value in `{ result }`, and its error in `{ error }`. */
function withResults(message: Message): Message {
  if (!message.parts.some((part) => part.type === 'tool_call_response')) return message
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'tool_call_response' || !isRecord(part.response)) return part
    const entries = Object.entries(part.response)
    const [[key, value] = ['', undefined]] = entries
    if (entries.length !== 1 || (key !== 'result' && key !== 'error')) return part
    return { ...part, response: value, ...(key === 'error' && { isError: true }) }
  })
  return makeMessage(message.role, parts, message.name)
}

import type { Dialect, SpanRole } from '../../dialect.ts'
import {
  haystackMessage,
  haystackMessages,
  haystackTools,
  pipelineQuestion,
  pipelineReplies,
} from '../../content/haystack.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { systemTextOf } from '../../content/messages.ts'
import { isRecord } from '../../json.ts'
import type { SourceSpan } from '../../source-span.ts'
import { shownJson } from './content.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * Haystack for Python through OpenInference: spans are named after methods, and messages are what Python prints of them. Tools have
 * no spans: their calls and results are in the list of an agent's messages. Neither agents nor pipelines have names.
 */
export const openInferenceHaystack: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'openinference.instrumentation.haystack',
  withoutScope: { readAs: openInference, isShownBy: (span) => isHaystack(span) },

  roleOf: (span): SpanRole => (isAgent(span) ? 'agent' : openInference.roleOf(span)),
  agent: () => undefined,

  systemInstructions: (span, logs) =>
    systemTextOf(openInferenceHaystack.transcript?.(span, logs) ?? openInferenceHaystack.input?.(span, logs)),
  input(span, logs) {
    const messages = haystackMessages(fieldOf(span, 'input.value', 'messages'))
    return (
      messages ??
      (kindOf(span) === 'LLM'
        ? openInference.input?.(span, logs)
        : pipelineQuestion(fieldOf(span, 'input.value', 'data')))
    )
  },
  output(span, logs) {
    const last = haystackMessage(fieldOf(span, 'output.value', 'last_message'))
    if (last !== undefined) return [last]
    const replies = haystackMessages(fieldOf(span, 'output.value', 'replies'))
    return (
      replies ??
      (kindOf(span) === 'LLM' ? openInference.output?.(span, logs) : pipelineReplies(shownJson(span, 'output.value')))
    )
  },
  transcript: (span) => (isAgent(span) ? haystackMessages(fieldOf(span, 'output.value', 'messages')) : undefined),
  toolDefinitions: (span) => haystackTools(fieldOf(span, 'input.value', 'tools')),
}

/** The class is the name, in a process as soon as the span begins. */
function isAgent(span: SourceSpan): boolean {
  return span.name.startsWith('Agent.run')
}

function fieldOf(span: SourceSpan, key: string, field: string): unknown {
  const value = jsonAttribute(span, key)
  return isRecord(value) ? value[field] : undefined
}

/** Whether the span has messages as Haystack prints them. */
function isHaystack(span: SourceSpan): boolean {
  const value = span.attributes['input.value']
  return typeof value === 'string' && value.includes('"ChatMessage(_role=')
}

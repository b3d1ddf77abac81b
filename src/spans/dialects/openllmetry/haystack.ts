import type { Dialect } from '../../dialect.ts'
import { haystackMessages } from '../../content/haystack.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord } from '../../json.ts'
import type { SourceSpan } from '../../source-span.ts'
import { openLlmetry } from './openllmetry.ts'

/**
 * Haystack for Python through OpenLLMetry: a workflow for a pipeline, always of one name, and a span for each model call around that
 * of the client's instrumentation. In place of an answer the latter span has the name of the field that the answer is in.
 */
export const openLlmetryHaystack: Dialect = {
  ...openLlmetry,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'opentelemetry.instrumentation.haystack',

  agent: () => undefined,

  input: (span, logs) => (isWorkflow(span) ? undefined : openLlmetry.input?.(span, logs)),
  output(span, logs) {
    if (isWorkflow(span)) return answerIn(jsonAttribute(span, 'traceloop.entity.output'))
    return span.attributes['gen_ai.completion.0.content'] === 'replies' ? undefined : openLlmetry.output?.(span, logs)
  },
}

function isWorkflow(span: SourceSpan): boolean {
  return span.name.endsWith('.workflow')
}

/** The reply of the only component that has one, `{ llm: { replies: […] } }`. */
function answerIn(output: unknown): ReturnType<typeof haystackMessages> {
  const replies = isRecord(output)
    ? Object.values(output).flatMap((component) => (isRecord(component) ? [component.replies] : []))
    : []
  const messages = replies.map(haystackMessages).filter((found) => found !== undefined)
  return messages.length === 1 ? messages[0] : undefined
}

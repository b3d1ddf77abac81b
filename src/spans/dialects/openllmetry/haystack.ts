import type { Dialect } from '../../dialect.ts'
import { pipelineReplies } from '../../content/haystack.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
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
    if (isWorkflow(span)) return pipelineReplies(jsonAttribute(span, 'traceloop.entity.output'))
    return span.attributes['gen_ai.completion.0.content'] === 'replies' ? undefined : openLlmetry.output?.(span, logs)
  },
}

function isWorkflow(span: SourceSpan): boolean {
  return span.name.endsWith('.workflow')
}

import type { Dialect } from '../../dialect.ts'
import { textOf } from '../../json.ts'
import { kindOf, openInference } from './openinference.ts'

/** Agno through OpenInference. The value of a failed agent is the error text, not an answer. */
export const openInferenceAgno: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'openinference.instrumentation.agno',
  withoutScope: {
    readAs: openInference,
    isShownBy: ({ attributes }) => attributes['agno.agent'] !== undefined || attributes['agno.agent.id'] !== undefined,
  },

  agent(span) {
    const name = textOf(span.attributes['agent.name']) ?? textOf(span.attributes['agno.agent'])
    return name === undefined ? openInference.agent?.(span) : { name }
  },

  output: (span, logs) =>
    span.status.code === 'error' && kindOf(span) === 'AGENT' ? undefined : openInference.output?.(span, logs),
}

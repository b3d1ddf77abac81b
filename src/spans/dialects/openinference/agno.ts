import type { Dialect } from '../../dialect.ts'
import { textOf } from '../../json.ts'
import { kindOf, openInference } from './openinference.ts'

/** Agno through OpenInference. The value of an agent that failed is the text of the error, which is no answer. */
export const openInferenceAgno: Dialect = {
  ...openInference,

  recognises: (scopeName) => scopeName === 'openinference.instrumentation.agno',

  agent(span) {
    const name = textOf(span.attributes['agent.name']) ?? textOf(span.attributes['agno.agent'])
    return name === undefined ? openInference.agent?.(span) : { name }
  },

  output: (span, logs) =>
    span.status.code === 'error' && kindOf(span) === 'AGENT' ? undefined : openInference.output?.(span, logs),
}

import type { Dialect, SpanRole } from '../../dialect.ts'
import { isRecord, textOf } from '../../json.ts'
import { shownJson } from './content.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * DSPy through OpenInference. Modules take and give objects with named fields, and are spans under the name of their method
 * (`ChainOfThought.forward`); what the model says is the same fields in a text form of the library's own.
 */
export const openInferenceDspy: Dialect = {
  ...openInference,

  recognises: (scopeName) => scopeName === 'openinference.instrumentation.dspy',

  // The tool with which the model says that it is done.
  roleOf: (span): SpanRole => (span.name === 'finish.__call__' ? 'step' : openInference.roleOf(span)),

  hasFinalForm: (span) => kindOf(span) !== 'LLM',

  tool(span) {
    const name = textOf(span.attributes['tool.name']) ?? textOf(span.name.replace(/\.(?:__call__|acall)$/, ''))
    return name === undefined ? undefined : { name }
  },
  toolArguments(span) {
    const given = shownJson(span, 'input.value')
    return isRecord(given) && isRecord(given.kwargs) && Object.keys(given).length === 1 ? given.kwargs : given
  },
}

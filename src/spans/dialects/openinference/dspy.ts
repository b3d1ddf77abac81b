import type { Dialect, SpanRole } from '../../dialect.ts'
import { isRecord, textOf } from '../../json.ts'
import { shownJson } from './content.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * DSPy through OpenInference. Modules take and return objects with named fields; their spans are named after the method
 * (`ChainOfThought.forward`). The model's output has the same fields in DSPy's own text format.
 */
export const openInferenceDspy: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'openinference.instrumentation.dspy',
  withoutScope: { readAs: openInference, isShownBy: (span) => /^\w+(?:\(\w+\))?\.forward$/.test(span.name) },

  // The tool by which the model says that it is done.
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

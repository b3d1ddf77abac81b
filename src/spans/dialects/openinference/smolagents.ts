import type { Dialect, SpanRole } from '../../dialect.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord, parseJson, textOf } from '../../json.ts'
import { textMessage, toolCallsIn } from '../../content/messages.ts'
import { flattenedMessages, flattenedTools, shownText } from './content.ts'
import type { SourceSpan } from '../../source-span.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * smolagents through OpenInference. The model answers by calling a tool of the library, which is not a tool call of the run. Requests are
 * Python print-outs, and unchanged in the flattened attributes.
 */
export const openInferenceSmolagents: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'openinference.instrumentation.smolagents',
  withoutScope: {
    readAs: openInference,
    isShownBy: ({ attributes }) => attributes['smolagents.max_steps'] !== undefined,
  },

  roleOf(span): SpanRole {
    if (kindOf(span) === 'TOOL' && span.attributes['tool.name'] === ANSWER) return 'step'
    return /^Step \d+$/.test(span.name) ? 'step' : openInference.roleOf(span)
  },

  agent(span) {
    const name = kindOf(span) === 'AGENT' ? textOf(span.name.replace(/\.run$/, '')) : undefined
    return name === undefined ? undefined : { name }
  },

  systemInstructions: () => undefined,

  input(span) {
    if (kindOf(span) === 'LLM') return flattenedMessages(span.attributes, 'llm.input_messages.')
    const given = jsonAttribute(span, 'input.value')
    const task = isRecord(given) ? textOf(given.task) : undefined
    return task === undefined ? undefined : [textMessage('user', task)]
  },

  output(span) {
    if (kindOf(span) !== 'LLM') return openInference.output?.(span, [])
    const output = flattenedMessages(span.attributes, 'llm.output_messages.')
    const answer = toolCallsIn(output).find((call) => call.name === ANSWER)?.arguments
    const text = isRecord(answer) ? textOf(answer.answer) : undefined
    return text === undefined ? output : [textMessage('assistant', text)]
  },

  // The answer in the form that the caller gets.
  hasFinalForm: (span) => kindOf(span) === 'AGENT',

  toolDefinitions: (span) => flattenedTools(span.attributes)?.filter((tool) => tool.name !== ANSWER),
  toolArguments: (span) => argumentsOf(span),
}

/** The tool through which the model answers. */
const ANSWER = 'final_answer'

function argumentsOf(span: SourceSpan): unknown {
  const input = parseJson(shownText(span.attributes['input.value']))
  return isRecord(input) && isRecord(input.kwargs) ? input.kwargs : undefined
}

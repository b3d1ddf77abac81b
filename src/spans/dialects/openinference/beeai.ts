import { jsonAttribute } from '../../content/json-attribute.ts'
import { textMessage, toolCallsIn } from '../../content/messages.ts'
import type { Dialect, SpanRole } from '../../dialect.ts'
import { isRecord, textOf } from '../../json.ts'
import { flattenedTools } from './content.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * BeeAI through OpenInference. The model answers by calling a tool of the library, which is not a tool call of the run. The arguments of
 * agents and tools are below `input`.
 */
export const openInferenceBeeAi: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'openinference.instrumentation.beeai',
  withoutScope: {
    readAs: openInference,
    isShownBy: ({ attributes }) => attributes['metadata.class_name'] !== undefined,
  },

  roleOf(span): SpanRole {
    const isAnswer = kindOf(span) === 'TOOL' && span.attributes['tool.name'] === ANSWER
    return isAnswer ? 'step' : openInference.roleOf(span)
  },

  input(span, logs) {
    const given = kindOf(span) === 'AGENT' ? jsonAttribute(span, 'input.value') : undefined
    const text = isRecord(given) ? textOf(given.input) : undefined
    return text === undefined ? openInference.input?.(span, logs) : [textMessage('user', text)]
  },

  output(span, logs) {
    // The value of a failed span is the error.
    if (span.status.code === 'error') return undefined
    const output = openInference.output?.(span, logs)
    const answer = toolCallsIn(output).find((call) => call.name === ANSWER)?.arguments
    const text = isRecord(answer) ? textOf(answer.response) : undefined
    return text === undefined ? output : [textMessage('assistant', text)]
  },

  toolDefinitions: (span) => flattenedTools(span.attributes)?.filter((tool) => tool.name !== ANSWER),

  toolArguments(span) {
    const given = jsonAttribute(span, 'input.value')
    return isRecord(given) ? given.input : undefined
  },

  contentKeys: ['metadata.steps.*', 'metadata.result.*', 'tool.description'],
}

/** The tool through which the model answers. */
const ANSWER = 'final_answer'

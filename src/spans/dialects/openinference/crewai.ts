import type { Dialect } from '../../dialect.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord, textOf } from '../../json.ts'
import type { Message } from '../../../model/message.ts'
import { textMessage } from '../../content/messages.ts'
import type { SourceSpan } from '../../source-span.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * CrewAI for Python through OpenInference. An agent's span is one task of a crew, named after a method: the agent's role is its
 * node's id, what it was asked the task's description, and its answer stands as `raw`. The models' spans come from whoever
 * instruments the client below.
 */
export const openInferenceCrewAi: Dialect = {
  ...openInference,

  recognises: (scopeName) => scopeName === 'openinference.instrumentation.crewai',

  agent(span) {
    const name = kindOf(span) === 'AGENT' ? textOf(span.attributes['graph.node.id']) : undefined
    return name === undefined ? undefined : { name }
  },

  // Of a failed task there is no output: then what the model was told.
  input: (span) => (kindOf(span) === 'AGENT' ? fromField('user', outputOf(span, 'description')) : undefined),
  output: (span) => fromField('assistant', outputOf(span, 'raw')),
  systemInstructions: () => undefined,

  contentKeys: ['crew_agents', 'crew_tasks', 'crew_inputs'],
}

/** A field of the task's output, or of the crew's. */
function outputOf(span: SourceSpan, field: string): string | undefined {
  const output = jsonAttribute(span, 'output.value')
  return isRecord(output) ? textOf(output[field]) : undefined
}

function fromField(role: string, text: string | undefined): readonly Message[] | undefined {
  return text === undefined ? undefined : [textMessage(role, text)]
}

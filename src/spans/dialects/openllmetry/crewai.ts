import type { Dialect, SpanRole } from '../../dialect.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { textMessage } from '../../content/messages.ts'
import { toToolDefinitions } from '../../content/tool-definitions.ts'
import { textOf } from '../../json.ts'
import type { SourceSpan } from '../../source-span.ts'
import { openLlmetry } from './openllmetry.ts'

/**
 * CrewAI for Python through OpenLLMetry. A task is a run: its span says what was asked, which agent was given it and what came out.
 * The models' spans come from what instruments the client below, and tools have none.
 */
export const openLlmetryCrewAi: Dialect = {
  ...openLlmetry,

  namespaces: [],
  recognises: (scopeName) => scopeName.startsWith('opentelemetry.instrumentation.crewai'),

  roleOf(span): SpanRole {
    if (span.name === 'crewai.workflow') return 'entry'
    return isTask(span) ? 'agent' : openLlmetry.roleOf(span)
  },

  agent(span) {
    const name = textOf(span.attributes['crewai.task.agent']) ?? textOf(span.attributes['gen_ai.agent.name'])
    const id = textOf(span.attributes['gen_ai.agent.id'])
    return name === undefined ? undefined : { name: name.trim(), ...(id !== undefined && { id }) }
  },

  systemInstructions: () => undefined,
  input(span) {
    const task = textOf(span.attributes['crewai.task.description'])
    return task === undefined ? undefined : [textMessage('user', task)]
  },
  output(span) {
    const answer = isTask(span) ? textOf(span.attributes['traceloop.entity.output']) : undefined
    return answer === undefined ? undefined : [textMessage('assistant', answer)]
  },
  // The models' words may have a form of the library's own around the answer.
  hasFinalForm: isTask,
  toolDefinitions: (span) =>
    toToolDefinitions(jsonAttribute(span, 'crewai.task.tools')) ??
    toToolDefinitions(jsonAttribute(span, 'crewai.agent.tools')),

  contentKeys: [...(openLlmetry.contentKeys ?? []), 'crewai.*'],
}

function isTask(span: SourceSpan): boolean {
  return span.name.endsWith('.task')
}

import type { Dialect } from '../../dialect.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { isRecord, textOf } from '../../json.ts'
import type { Message } from '../../../model/message.ts'
import { textMessage } from '../../content/messages.ts'
import { parsePythonLiteral } from '../../content/python-literal.ts'
import type { SourceSpan } from '../../source-span.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * CrewAI for Python through OpenInference. An agent's span is one task of a crew, named after a method: the node id is the agent's role,
 * the task's description is the question, and the answer is under `raw`. Model spans come from an instrumentation of the client below.
 */
export const openInferenceCrewAi: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'openinference.instrumentation.crewai',
  withoutScope: {
    readAs: openInference,
    isShownBy: ({ attributes }) => attributes['crew_key'] !== undefined,
    covers: (span) => kindOf(span) !== 'LLM',
  },

  agent(span) {
    // Older versions name the agent in the task's output and in the crew.
    const name =
      kindOf(span) === 'AGENT'
        ? (textOf(span.attributes['graph.node.id']) ?? outputOf(span, 'agent')?.trim())
        : onlyRole(jsonAttribute(span, 'crew_agents'))
    return name === undefined ? undefined : { name }
  },

  // A crew that was given inputs states the question, and what it returns.
  isSingleRun: (span) => kindOf(span) === 'CHAIN' && isRecord(jsonAttribute(span, 'crew_inputs')),

  // A failed task has no output, so the model's input is used.
  input: (span) =>
    fromField('user', kindOf(span) === 'AGENT' ? outputOf(span, 'description') : textOf(span.attributes.crew_inputs)),
  output: (span) => fromField('assistant', outputOf(span, 'raw')),
  // The model's text may wrap the answer in the library's own form: `Thought: …\nFinal Answer: …`.
  hasFinalForm: (span) => kindOf(span) === 'AGENT',
  systemInstructions: () => undefined,

  toolArguments(span, logs) {
    const given = openInference.toolArguments?.(span, logs)
    const calling = isRecord(given) ? textOf(given.calling) : undefined
    return calling === undefined ? given : argumentsIn(calling)
  },

  contentKeys: ['crew_agents', 'crew_tasks', 'crew_inputs'],
}

/** `tool_name='search' arguments={'query': …}`, as Python prints the call. */
function argumentsIn(calling: string): unknown {
  const start = calling.indexOf(ARGUMENTS)
  const value = start === -1 ? undefined : parsePythonLiteral(calling.slice(start + ARGUMENTS.length))
  return isRecord(value) ? value : undefined
}

const ARGUMENTS = ' arguments='

/** A field of the output of the task or the crew. */
function outputOf(span: SourceSpan, field: string): string | undefined {
  const output = jsonAttribute(span, 'output.value')
  return isRecord(output) ? textOf(output[field]) : undefined
}

/** The agent's role, if the crew has only one. */
function onlyRole(agents: unknown): string | undefined {
  const [only] = Array.isArray(agents) && agents.length === 1 ? (agents as readonly unknown[]) : []
  return isRecord(only) ? textOf(only.role)?.trim() : undefined
}

function fromField(role: string, text: string | undefined): readonly Message[] | undefined {
  return text === undefined ? undefined : [textMessage(role, text)]
}

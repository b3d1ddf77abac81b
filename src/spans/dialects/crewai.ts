import type { Dialect, SpanRole } from '../dialect.ts'
import { textMessage } from '../content/messages.ts'
import { asWritten } from '../content/python-literal.ts'
import { textOf } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { genAi } from './gen-ai.ts'

/**
 * CrewAI's own tracing (1.15): the conventions' attributes, in a tree of crew, task, agent. A task is a run, as its agent may hand
 * it to others. The name of an agent is a hash: its role is beside it. What a tool returned is what Python prints of it.
 */
export const crewAi: Dialect = {
  ...genAi,
  name: 'crewai',

  namespaces: ['crewai.'],
  recognises: (scopeName, attributes) => scopeName === 'crewai' || attributes['crewai.execution_uuid'] !== undefined,

  roleOf(span): SpanRole {
    // A failed call of a tool has a second span, which says what becomes of the failure.
    if (span.name === 'tool failure') return 'step'
    return TASK.test(span.name) ? 'agent' : genAi.roleOf(span)
  },
  // A crew that was given inputs states the question, and what it returns.
  isSingleRun: (span) => TASK.test(span.name) || (textOf(span.attributes['crewai.crew.inputs']) ?? 'null') !== 'null',

  agent(span) {
    const name =
      textOf(span.attributes['crewai.agent.role'])?.trim() ??
      (span.attributes['crewai.crew.inputs'] === undefined ? undefined : textOf(span.attributes['crewai.crew.name']))
    const id = textOf(span.attributes['gen_ai.agent.id'])
    if (name === undefined && id === undefined) return undefined
    return { ...(name !== undefined && { name }), ...(id !== undefined && { id }) }
  },
  quirks: { isNoConversation: (attributes) => attributes['gen_ai.conversation.id'] === attributes['crewai.task.id'] },

  // An agent's span has no more than its backstory: what the model was sent is whole.
  systemInstructions: () => undefined,
  input: (span, logs) => withTasks(genAi.input?.(span, logs)),

  toolArguments: (span) => asWritten(span.attributes['gen_ai.tool.call.arguments']),
  toolResult: (span) => asWritten(span.attributes['gen_ai.tool.call.result']),

  contentKeys: [
    ...(genAi.contentKeys ?? []),
    'crewai.crew.inputs',
    'crewai.crew.output',
    'crewai.task.description',
  ].concat([
    'crewai.task.expected_output',
    'crewai.task.name',
    'crewai.task.output',
    'crewai.tool.failure.message',
    'gen_ai.agent.description',
  ]),
}

const TASK = /^execute task$/

const BEFORE = 'Current Task: '
const AFTER = '\n\nThis is the expected criteria for your final answer:'

/** What a task of CrewAI says, out of the prompt that the library builds from it; the text itself where it is no such prompt. */
function taskIn(prompt: string): string {
  const end = prompt.indexOf(AFTER)
  if (end === -1) return prompt
  const text = prompt.slice(0, end).trim()
  return text.startsWith(BEFORE) ? text.slice(BEFORE.length) : text
}

/** The messages, with tasks in place of the prompts that were built from them. */
function withTasks(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  return messages?.map((message) => {
    const { role, text } = message
    if (role !== 'user' || text === undefined || message.parts.length !== 1) return message
    const task = taskIn(text)
    return task === text ? message : textMessage(role, task)
  })
}

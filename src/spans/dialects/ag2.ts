import type { Dialect, SpanRole } from '../dialect.ts'
import { asWritten } from '../content/python-literal.ts'
import { textOf } from '../json.ts'
import { genAi } from './gen-ai.ts'

const TYPE = 'ag2.span.type'

/**
 * AG2, which was AutoGen, in both of its forms. Before version 1 a conversation is the run: the agents that take turns in it, of which
 * one may do no more than call tools, are side by side. From version 1 on an agent's span is the run, and the messages of its model
 * calls are without the system's.
 */
export const ag2: Dialect = {
  ...genAi,
  name: 'ag2',

  namespaces: ['ag2.'],
  kindKeys: [TYPE],
  recognises: (scopeName, attributes) => scopeName === SCOPE || attributes[TYPE] !== undefined,

  roleOf(span): SpanRole {
    const type = textOf(span.attributes[TYPE])
    return type === undefined ? genAi.roleOf(span) : (ROLES.get(type) ?? 'step')
  },
  isSingleRun: (span) => span.attributes[TYPE] === 'conversation',

  // A conversation bears the name of the agent that began it, which is the one that asks.
  agent: (span) => (span.attributes[TYPE] === 'conversation' ? undefined : genAi.agent?.(span)),

  // A conversation has all its messages, the question among them.
  output(span, logs) {
    const said = genAi.output?.(span, logs)
    return span.attributes[TYPE] === 'conversation' ? said?.slice(-1) : said
  },

  toolResult: (span) => asWritten(span.attributes['gen_ai.tool.call.result']),

  absence: () => ({ why: 'not-recorded' }),

  contentKeys: [...(genAi.contentKeys ?? []), 'ag2.human_input.prompt', 'ag2.human_input.response'],
}

const SCOPE = 'opentelemetry.instrumentation.ag2'

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['conversation', 'entry'],
  ['agent', 'agent'],
  ['llm', 'model'],
  ['tool', 'tool'],
  ['handoff', 'handoff'],
])

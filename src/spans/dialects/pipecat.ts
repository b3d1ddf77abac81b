import { jsonAttribute } from '../content/json-attribute.ts'
import { systemTextOf, textMessage, toMessages } from '../content/messages.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'
import type { Dialect, SpanRole } from '../dialect.ts'
import { textOf } from '../json.ts'
import { genAi } from './gen-ai.ts'

/**
 * Pipecat: each turn of a voice conversation is a run. Model calls have the messages as `input`, the answer as `output` and the offered tools as
 * `tools`. What a call asked for is in the messages of the next one.
 */
export const pipecat: Dialect = {
  ...genAi,
  name: 'pipecat',

  namespaces: [],
  recognises: (scopeName) => scopeName === 'pipecat' || scopeName === 'pipecat.turn',

  roleOf(span): SpanRole {
    if (span.scope.name === 'pipecat.turn') return span.name === 'turn' ? 'entry' : 'none'
    return span.name.startsWith('llm') ? 'model' : 'step'
  },

  agent: () => undefined,
  conversationKeys: ['conversation.id'],

  systemInstructions: (span, logs) =>
    systemTextOf(pipecat.input?.(span, logs)) ?? textOf(span.attributes['gen_ai.system_instructions']),
  input: (span) => toMessages(jsonAttribute(span, 'input')),
  output(span) {
    const text = textOf(span.attributes.output)
    return text === undefined ? undefined : [textMessage('assistant', text)]
  },
  toolDefinitions: (span) => toToolDefinitions(jsonAttribute(span, 'tools')),

  absence: (_span, fact) =>
    fact === 'systemInstructions' || fact === 'toolDefinitions' ? undefined : { why: 'not-recorded' },

  contentKeys: [...(genAi.contentKeys ?? []), 'transcript'],
  // Too common to be content on other spans.
  ownContentKeys: ['input', 'output', 'tools', 'text'],
}

import type { Dialect, SpanRole } from '../dialect.ts'
import { parseJson, textOf } from '../json.ts'
import { textMessage } from '../content/messages.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'

/**
 * Spring AI (Java), through Micrometer: a call of a `ChatClient` is the agent, without a name. Advisors are between it and the model calls,
 * which follow the conventions, and the tool calls. Its own spans have the operation `framework` and the provider `spring_ai`;
 * `spring.ai.kind` distinguishes them.
 */
export const springAi: Dialect = {
  name: 'spring-ai',

  namespaces: ['spring.ai.'],
  kindKeys: ['spring.ai.kind'],
  recognises: (_scopeName, attributes) => attributes['spring.ai.kind'] !== undefined,

  roleOf: (span): SpanRole => ROLES.get(textOf(span.attributes['spring.ai.kind']) ?? '') ?? 'step',

  conversationId: (span) => textOf(span.attributes['spring.ai.chat.client.conversation.id']),

  // Only before 1.0, with `spring.ai.chat.client.observations.include-input=true`.
  systemInstructions: (span) => textOf(span.attributes['spring.ai.chat.client.system.text']),
  input(span) {
    const text = textOf(span.attributes['spring.ai.chat.client.user.text'])
    return text === undefined ? undefined : [textMessage('user', text)]
  },
  // Names only.
  toolDefinitions: (span) =>
    toToolDefinitions(
      span.attributes['spring.ai.chat.client.tool.names'] ??
        span.attributes['spring.ai.chat.client.tool.function.names'],
    ),

  tool(span) {
    const name = textOf(span.attributes['spring.ai.tool.definition.name'])
    return name === undefined ? undefined : { name }
  },
  toolArguments: (span) => parseJson(span.attributes['spring.ai.tool.call.arguments']),
  toolResult: (span) => parseJson(span.attributes['spring.ai.tool.call.result']),

  absence: (_span, fact) =>
    fact === 'toolArguments' || fact === 'toolResult'
      ? { why: 'not-captured', switch: 'spring.ai.tools.observations.include-content=true' }
      : { why: 'not-recorded' },

  contentKeys: [
    'spring.ai.tool.call.*',
    'spring.ai.tool.definition.*',
    'spring.ai.chat.client.user.*',
    'spring.ai.chat.client.system.*',
    'spring.ai.chat.client.advisor.params',
    'spring.ai.vectorstore.query.*',
  ],
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['chat_client', 'agent'],
  ['tool_call', 'tool'],
])

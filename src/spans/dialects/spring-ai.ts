import type { Dialect, ModelIdentity, SpanRole } from '../dialect.ts'
import { parseJson, textOf } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { textMessage } from '../content/messages.ts'
import { semconvInput, semconvOutput } from '../content/semconv-content.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { toDocuments } from '../content/documents.ts'
import type { SourceSpan } from '../source-span.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'
import { semconvModel, semconvUsage } from '../semconv.ts'
import { genAi } from './gen-ai.ts'

/**
 * Spring AI (Java), through Micrometer: a call of a `ChatClient` is the agent, without a name. Advisors are between it and the model calls,
 * which follow the conventions, and the tool calls. Its own spans have the provider `spring_ai`; `spring.ai.kind` distinguishes them.
 *
 * Messages are not recorded. Applications add them with a filter that many guides show: a list of the texts, without roles.
 */
export const springAi: Dialect = {
  name: 'spring-ai',

  namespaces: ['spring.ai.', 'gen_ai.operation.name'],
  kindKeys: ['spring.ai.kind'],
  recognises: (scopeName, attributes) =>
    attributes['spring.ai.kind'] !== undefined ||
    attributes['spring.ai.model.request.tool.names'] !== undefined ||
    (scopeName === 'org.springframework.boot' && attributes['gen_ai.operation.name'] !== undefined),

  withoutScope: { readAs: genAi, isShownBy: ({ attributes }) => attributes['spring.ai.kind'] !== undefined },

  roleOf(span): SpanRole {
    const kind = textOf(span.attributes['spring.ai.kind'])
    return kind === undefined ? genAi.roleOf(span) : (ROLES.get(kind) ?? 'step')
  },

  aside: (span) => (isVectorStore(span) ? 'retrieval' : genAi.aside?.(span)),

  // A streamed model call lasts until the answer of the calls that follow its tools.
  quirks: { modelsNest: true },

  conversationKeys: ['spring.ai.chat.client.conversation.id'],

  // Only before 1.0, with `spring.ai.chat.client.observations.include-input=true`.
  systemInstructions: (span) => textOf(span.attributes['spring.ai.chat.client.system.text']),
  input(span) {
    const text = textOf(span.attributes['spring.ai.chat.client.user.text'])
    if (text !== undefined) return [textMessage('user', text)]
    const texts = toTexts(span.attributes['gen_ai.prompt'])
    return texts === undefined ? semconvInput(span) : toRequest(texts)
  },
  output(span) {
    const texts = toTexts(span.attributes['gen_ai.completion'])
    if (texts === undefined) return semconvOutput(span)
    const [text] = texts
    // The first text is the answer that is used. An empty one belongs to a request for tools.
    return text === undefined || text === '' ? undefined : [textMessage('assistant', text)]
  },
  // Names only.
  toolDefinitions: (span) =>
    toToolDefinitions(
      span.attributes['spring.ai.chat.client.tool.names'] ??
        span.attributes['spring.ai.chat.client.tool.function.names'] ??
        span.attributes['spring.ai.model.request.tool.names'],
    ),

  model(span): ModelIdentity {
    const identity = semconvModel(span.attributes)
    if (identity.model !== 'none') return identity
    // A call that failed.
    const model = textOf(span.attributes['gen_ai.request.model'])
    return model === undefined ? {} : { model }
  },
  usage: (span) => semconvUsage(span.attributes),

  tool(span) {
    const name = textOf(span.attributes['spring.ai.tool.definition.name'])
    const id = textOf(span.attributes['spring.ai.tool.call.id'])
    return name === undefined ? undefined : { name, ...(id !== undefined && { id }) }
  },
  toolArguments: (span) => parseJson(span.attributes['spring.ai.tool.call.arguments']),
  toolResult: (span) => parseJson(span.attributes['spring.ai.tool.call.result']),

  retrieval(span, logs) {
    if (!isVectorStore(span)) return genAi.retrieval?.(span, logs)
    // A vector store is also added to and deleted from.
    if (span.attributes['db.operation.name'] !== 'query') return undefined
    return {
      kind: 'search',
      query: textOf(span.attributes['db.vector.query.content']),
      source: textOf(span.attributes['db.collection.name']),
    }
  },
  documents: (span, logs) =>
    isVectorStore(span)
      ? toDocuments(jsonAttribute(span, 'db.vector.query.response.documents'))
      : genAi.documents?.(span, logs),

  absence: (_span, fact) =>
    fact === 'toolArguments' || fact === 'toolResult'
      ? { why: 'not-captured', switch: 'spring.ai.tools.observations.include-content=true' }
      : { why: 'not-recorded' },

  contentKeys: [
    ...(genAi.contentKeys ?? []),
    'spring.ai.tool.call.*',
    'spring.ai.tool.definition.*',
    'spring.ai.chat.client.tool.*',
    'spring.ai.model.request.tool.names',
    'spring.ai.chat.client.user.*',
    'spring.ai.chat.client.system.*',
    'spring.ai.chat.client.advisor.params',
    'spring.ai.vectorstore.query.*',
    'db.vector.query.*',
  ],
}

function isVectorStore({ attributes }: SourceSpan): boolean {
  return attributes['spring.ai.kind'] === 'vector_store'
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['chat_client', 'agent'],
  ['tool_call', 'tool'],
])

/**
 * A list of texts, either as JSON, or joined by Spring AI's `ObservabilityHelper`, which escapes nothing. Texts with quotes in such a list
 * cannot be separated, and are `undefined` as a list with an unknown number of them.
 */
function toTexts(value: unknown): readonly (string | undefined)[] | undefined {
  if (value === '[]') return []
  // Backends that keep lists as JSON text give them back as lists.
  if (Array.isArray(value)) return value.map((text: unknown) => (typeof text === 'string' ? text : undefined))
  if (typeof value !== 'string' || !value.startsWith('["') || !value.endsWith('"]') || value.length < 4)
    return undefined
  const parsed = value.includes('\\') ? parseJson(value) : undefined
  if (Array.isArray(parsed)) return toTexts(parsed)
  const texts = value.slice(2, -2).split('", "')
  return texts.length === 1 || !texts.some((text) => text.includes('"')) ? texts : [undefined]
}

/**
 * The messages of a request. One text is the question, and two are instructions and question: answers and results of tools, which have
 * other places, come in addition to these. In a longer list nothing shows what is whose.
 */
function toRequest(texts: readonly (string | undefined)[]): readonly Message[] | undefined {
  const [first, second] = texts
  if (first === undefined || first === '' || texts.length > 2) return undefined
  if (texts.length === 1) return [textMessage('user', first)]
  return second === undefined || second === '' ? undefined : [textMessage('system', first), textMessage('user', second)]
}

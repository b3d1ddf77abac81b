import type { Dialect, SpanOutcome, SpanRole } from '../dialect.ts'
import { asideKind } from '../asides.ts'
import { retrievalOfKind, toDocuments } from '../content/documents.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { isRecord, numberOf, textOf, toJsonText } from '../json.ts'
import type { Message } from '../../model/message.ts'
import { systemTextOf, textMessage } from '../content/messages.ts'
import { replyMessages, requestMessages, requestTools } from '../content/payloads.ts'
import { outcomeOf, WAITING } from '../outcome.ts'
import { makeUsage } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'

/**
 * Genkit: scope `genkit-tracer`, keys with colons. A flow, or the outermost `generate`, is the agent. Each further turn of the loop is a
 * `generate` inside the previous one. Tool spans have no call id.
 */
export const genkit: Dialect = {
  name: 'genkit',
  toolSpans: 'always',

  namespaces: ['genkit:'],
  recognises: (scopeName, attributes) => scopeName === 'genkit-tracer' || attributes['genkit:type'] !== undefined,

  roleOf(span): SpanRole {
    const role = SUBTYPES.get(subtypeOf(span))
    if (role !== undefined) return role
    return span.attributes['genkit:type'] === 'util' && span.name === 'generate' ? 'entry' : 'step'
  },

  agent(span) {
    const subtype = subtypeOf(span)
    const name = subtype !== '' && genkit.roleOf(span) === 'entry' ? textOf(span.attributes['genkit:name']) : undefined
    return name === undefined ? undefined : { name }
  },

  aside: (span) => asideKind(subtypeOf(span)),

  conversationKeys: ['genkit:sessionId', 'genkit:metadata:sessionId'],

  systemInstructions: (span) => systemTextOf(requestMessages(inputOf(span))),
  input(span) {
    const value = inputOf(span)
    return typeof value === 'string' ? [textMessage('user', value)] : (requestMessages(value) ?? fromOnlyText(value))
  },
  output(span) {
    const value = jsonAttribute(span, 'genkit:output')
    const reply = replyMessages(value)
    if (reply !== undefined || genkit.roleOf(span) === 'model') return reply
    const text = value === undefined || value === null ? undefined : toJsonText(value)
    return text === undefined ? undefined : [textMessage('assistant', text)]
  },
  toolDefinitions: (span) => (subtypeOf(span) === 'model' ? requestTools(inputOf(span)) : undefined),

  model(span) {
    const model = textOf(span.attributes['genkit:name'])
    const reply = jsonAttribute(span, 'genkit:output')
    const finishReason = isRecord(reply) ? textOf(reply.finishReason) : undefined
    return {
      ...(model !== undefined && { model }),
      ...(finishReason !== undefined && { finishReasons: [finishReason] }),
    }
  },
  usage(span) {
    const reply = jsonAttribute(span, 'genkit:output')
    const usage = isRecord(reply) && isRecord(reply.usage) ? reply.usage : {}
    return makeUsage(
      numberOf(usage.inputTokens),
      numberOf(usage.outputTokens),
      numberOf(usage.cachedContentTokens),
      undefined,
      numberOf(usage.thoughtsTokens),
    )
  },

  tool(span) {
    const name = textOf(span.attributes['genkit:name']) ?? textOf(span.name)
    return name === undefined ? undefined : { name }
  },
  toolArguments: (span) => inputOf(span),
  toolResult: (span) => jsonAttribute(span, 'genkit:output'),

  retrieval: (span) => retrievalOfKind(subtypeOf(span), () => inputOf(span)),
  documents: (span) => toDocuments(jsonAttribute(span, 'genkit:output')),

  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    return outcome.error?.type === 'ToolInterruptError' ? WAITING : outcome
  },

  // Genkit always writes content, but the exporters for Google Cloud and Firebase can remove it.
  absence(span, fact) {
    const isOptional = fact === 'systemInstructions' || fact === 'toolDefinitions'
    if (isOptional && inputOf(span) !== undefined) return undefined
    return { why: 'not-captured', switch: 'enableFirebaseTelemetry({ disableLoggingInputAndOutput: false })' }
  },

  contentKeys: ['genkit:input', 'genkit:output', 'genkit:metadata:context'],
}

const SUBTYPES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['flow', 'entry'],
  ['agent', 'entry'],
  ['prompt', 'entry'],
  ['executable-prompt', 'entry'],
  ['model', 'model'],
  ['background-model', 'model'],
  ['tool', 'tool'],
  ['tool.v2', 'tool'],
  ['evaluator', 'evaluator'],
])

function subtypeOf(span: SourceSpan): string {
  const subtype = span.attributes['genkit:metadata:subtype']
  return typeof subtype === 'string' ? subtype : ''
}

function inputOf(span: SourceSpan): unknown {
  return jsonAttribute(span, 'genkit:input')
}

function fromOnlyText(value: unknown): readonly Message[] | undefined {
  if (!isRecord(value)) return undefined
  const values = Object.values(value)
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? [textMessage('user', only)] : undefined
}

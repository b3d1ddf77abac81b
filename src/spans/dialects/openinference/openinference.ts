import type { Absence, ContentFact, Dialect, SpanOutcome, SpanRole } from '../../dialect.ts'
import { asideKind } from '../../asides.ts'
import { isRecord, numberOf, parseJson, parseJsonTwice, textOf } from '../../json.ts'
import type { Message } from '../../../model/message.ts'
import { systemTextOf, textMessage } from '../../content/messages.ts'
import { retrievalOfKind, toDocuments } from '../../content/documents.ts'
import {
  flattenedDocuments,
  flattenedMessages,
  flattenedPrompts,
  flattenedTools,
  isHidden,
  shownJson,
  shownText,
} from './content.ts'
import { isInterrupt, outcomeOf, WAITING } from '../../outcome.ts'
import { replyMessages, requestInstructions, requestMessages, requestTools } from '../../content/payloads.ts'
import { makeUsage } from '../../semconv.ts'
import type { SourceSpan } from '../../source-span.ts'

/**
 * OpenInference (Arize), for any library: `openinference.span.kind`. This reads OpenAI, Anthropic, and hand-written spans of
 * openinference-core. Dialects of libraries with other trees, such as LangChain and the OpenAI Agents SDK, build on it.
 */
export const openInference: Dialect = {
  name: 'openinference',

  namespaces: ['openinference.'],
  kindKeys: ['openinference.span.kind'],
  recognises: (scopeName, attributes) =>
    typeof attributes['openinference.span.kind'] === 'string' || isScope(scopeName),

  // Amazon Bedrock searches and answers in one call.
  roleOf: (span) => (span.name === 'bedrock.retrieve_and_generate' ? 'model' : (ROLES.get(kindOf(span)) ?? 'step')),

  aside: (span) => asideKind(kindOf(span)),

  agent(span) {
    const name =
      textOf(span.attributes['agent.name']) ??
      textOf(span.attributes['gen_ai.agent.name']) ??
      (isNamed(span) ? textOf(span.name) : undefined)
    return name === undefined ? undefined : { name }
  },

  conversationIn: ['llm.invocation_parameters'],

  systemInstructions(span) {
    return (
      requestInstructions(shownJson(span, 'input.value')) ??
      systemTextOf(openInference.input?.(span, [])) ??
      systemTextOf(flattenedMessages(span.attributes, 'llm.input_messages.')) ??
      // Anthropic's system prompt is also among the parameters, where it stays if inputs are hidden.
      requestInstructions(shownJson(span, 'llm.invocation_parameters')) ??
      // The Responses API returns the instructions.
      (kindOf(span) === 'LLM' ? requestInstructions(shownJson(span, 'output.value')) : undefined)
    )
  },

  input(span) {
    const text = shownText(span.attributes['input.value'])
    if (kindOf(span) !== 'LLM' && isText(span, 'input') && text !== undefined) return [textMessage('user', text)]
    const messages = requestMessages(shownJson(span, 'input.value'))
    if (messages !== undefined) return messages
    if (kindOf(span) !== 'LLM') return asText('user', text)
    return flattenedMessages(span.attributes, 'llm.input_messages.') ?? flattenedPrompts(span.attributes)
  },

  output(span) {
    const reply = isText(span, 'output') ? undefined : replyMessages(shownJson(span, 'output.value'))
    if (reply !== undefined) return reply
    // For streams, the value is only the text, and the calls are attributes.
    const flat = kindOf(span) === 'LLM' ? flattenedMessages(span.attributes, 'llm.output_messages.') : undefined
    // Of several answers that the request asked for, the first is the one that clients use.
    const first = flat !== undefined && flat.length > 1 && asksForSeveral(span) ? flat.slice(0, 1) : flat
    return first ?? asText('assistant', shownText(span.attributes['output.value']))
  },

  toolDefinitions: (span) =>
    flattenedTools(span.attributes) ??
    requestTools(shownJson(span, 'input.value')) ??
    requestTools(shownJson(span, 'llm.invocation_parameters')),

  model(span) {
    const model =
      textOf(span.attributes['llm.response.model_name']) ??
      textOf(span.attributes['llm.output_model_name']) ??
      textOf(span.attributes['llm.model_name']) ??
      textOf(span.attributes['llm.request.model_name']) ??
      textOf(span.attributes['llm.input_model_name']) ??
      textOf(span.attributes['decision.model_name'])
    // The value of a chain is a whole state, so only the name of a model is read from it.
    const reply = kindOf(span) === 'LLM' ? shownJson(span, 'output.value') : undefined
    const responseId = responseIdOf(Array.isArray(reply) ? reply[0] : reply)
    const finishReason = textOf(span.attributes['llm.finish_reason'])
    return {
      ...(model !== undefined && { model }),
      ...(responseId !== undefined && { responseId }),
      ...(finishReason !== undefined && { finishReasons: [finishReason] }),
    }
  },

  usage(span) {
    const read = (name: string): number | undefined => numberOf(span.attributes[`llm.token_count.${name}`])
    return makeUsage(
      read('prompt') ?? numberOf(span.attributes['decision.token_count.input']),
      read('completion') ?? numberOf(span.attributes['decision.token_count.output']),
      read('prompt_details.cache_read'),
      read('prompt_details.cache_write'),
      read('completion_details.reasoning'),
    )
  },

  tool(span) {
    const name = textOf(span.attributes['tool.name']) ?? textOf(span.name)
    const id = textOf(span.attributes['tool_call.id']) ?? textOf(span.attributes['tool.id'])
    return name === undefined ? undefined : { name, ...(id !== undefined && { id }) }
  },
  toolArguments(span) {
    const { 'input.value': input, 'tool.parameters': parameters } = span.attributes
    if (input !== undefined) return parseJsonTwice(shownText(input))
    const value = parseJsonTwice(shownText(parameters))
    // Python writes the tool's schema there, JavaScript the arguments.
    return isRecord(value) && value.type === 'object' && isRecord(value.properties) ? undefined : value
  },
  toolResult: (span) =>
    isHidden(span.attributes['output.value']) ? undefined : parseJson(span.attributes['output.value']),

  retrieval: (span) =>
    retrievalOfKind(
      kindOf(span),
      () => shownText(span.attributes['reranker.query']) ?? shownText(span.attributes['input.value']),
    ),
  documents: (span) =>
    flattenedDocuments(span.attributes) ??
    (kindOf(span) === 'RETRIEVER' ? toDocuments(shownJson(span, 'output.value')) : undefined),

  outcome: (span) => outcomeWithoutStack(span),

  absence: (span, fact) => absenceOf(span, fact),

  contentKeys: ['input.value', 'output.value', 'llm.input_messages.*', 'llm.output_messages.*', 'llm.tools.*']
    .concat([
      'llm.invocation_parameters',
      'llm.prompts',
      'llm.prompts.*',
      'llm.choices.*',
      'llm.prompt_template.*',
      'tool.parameters',
    ])
    .concat(['tool.json_schema', 'tool.description', 'retrieval.documents.*', 'reranker.*', 'embedding.embeddings.*']),
}

/** The span's OpenInference kind, `LLM`, `TOOL`, …; empty if it is not set yet. */
export function kindOf(span: SourceSpan): string {
  const kind = span.attributes['openinference.span.kind']
  return typeof kind === 'string' ? kind.toUpperCase() : ''
}

/** Whether this is a span of OpenInference's Python instrumentations. */
export function isPython(span: SourceSpan): boolean {
  return span.scope.name.startsWith('openinference.instrumentation.')
}

/** Whether this is a scope of OpenInference's own packages, in JavaScript or Python. */
function isScope(scopeName: string): boolean {
  return (
    scopeName.startsWith('@arizeai/openinference-instrumentation-') ||
    scopeName.startsWith('openinference.instrumentation.') ||
    scopeName === 'openinference-core'
  )
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['AGENT', 'agent'],
  ['CHAIN', 'entry'],
  ['LLM', 'model'],
  ['TOOL', 'tool'],
  ['EVALUATOR', 'evaluator'],
])

function asksForSeveral(span: SourceSpan): boolean {
  const parameters = shownJson(span, 'llm.invocation_parameters')
  return isRecord(parameters) && (numberOf(parameters.n) ?? 1) > 1
}

/** An agent's span has its name; a chain's may have any function's. */
function isNamed(span: SourceSpan): boolean {
  const kind = kindOf(span)
  return kind === 'AGENT' || kind === 'CHAIN'
}

function isText(span: SourceSpan, side: 'input' | 'output'): boolean {
  return span.attributes[`${side}.mime_type`] === 'text/plain'
}

function asText(role: string, value: string | undefined): readonly Message[] | undefined {
  return value === undefined ? undefined : [textMessage(role, value)]
}

function responseIdOf(reply: unknown): string | undefined {
  if (typeof reply !== 'object' || reply === null || !('id' in reply)) return undefined
  return textOf(reply.id)
}

/** Some instrumentations write message, name and stack trace as one text. */
function outcomeWithoutStack(span: SourceSpan): SpanOutcome {
  const outcome = outcomeOf(span)
  const message = outcome.error?.message
  const stack = message === undefined ? -1 : stackStart(message)
  if (message === undefined || stack === -1) return outcome
  const first = message.slice(0, stack).trim()
  const [text = first, named] = first.split('\n\n', 2)
  const type = /^(\w{0,100}(?:Error|Exception|Interrupt)): /.exec(named ?? '')?.[1]
  if (type !== undefined && isInterrupt({ type })) return WAITING
  return { ...outcome, error: { ...(type !== undefined && { type }), ...outcome.error, message: text } }
}

/** The index of the first line that starts with `    at …`, including blank lines before it; -1 if there is none. */
function stackStart(message: string): number {
  let blank = -1
  for (let end = message.indexOf('\n'); end !== -1;) {
    const next = message.indexOf('\n', end + 1)
    const line = message.slice(end + 1, next === -1 ? message.length : Math.min(next, end + MAX_INDENT))
    const text = line.trimStart()
    if (text.startsWith('at ') && text.length < line.length) return blank === -1 ? end : blank
    if (text !== '') blank = -1
    else if (blank === -1) blank = end
    end = next
  }
  return -1
}

/** How far into a line to look. */
const MAX_INDENT = 100

const SWITCHES: Readonly<Record<ContentFact, string>> = {
  systemInstructions: 'new …Instrumentation({ traceConfig: { hideInputs: false, hideInputMessages: false } })',
  input: 'new …Instrumentation({ traceConfig: { hideInputs: false, hideInputMessages: false } })',
  output: 'new …Instrumentation({ traceConfig: { hideOutputs: false, hideOutputMessages: false } })',
  toolDefinitions: 'new …Instrumentation({ traceConfig: { hideInputs: false, hideLlmTools: false } })',
  toolCalls: 'new …Instrumentation({ traceConfig: { hideOutputs: false, hideOutputMessages: false } })',
  toolArguments: 'new …Instrumentation({ traceConfig: { hideInputs: false } })',
  toolResult: 'new …Instrumentation({ traceConfig: { hideOutputs: false } })',
  documents: 'new …Instrumentation({ traceConfig: { hideOutputs: false } })',
}

/** Python's instrumentations also read the environment. */
function pythonSwitch(isInput: boolean): string {
  return isInput
    ? 'OPENINFERENCE_HIDE_INPUTS=false (TraceConfig(hide_inputs=False))'
    : 'OPENINFERENCE_HIDE_OUTPUTS=false (TraceConfig(hide_outputs=False))'
}

function absenceOf(span: SourceSpan, fact: ContentFact): Absence | undefined {
  const isInput =
    fact === 'input' || fact === 'systemInstructions' || fact === 'toolDefinitions' || fact === 'toolArguments'
  const isHiddenDocument = fact === 'documents' && Object.values(span.attributes).some(isHidden)
  if (isHiddenDocument || isHidden(span.attributes[isInput ? 'input.value' : 'output.value'])) {
    return { why: 'redacted', switch: isPython(span) ? pythonSwitch(isInput) : SWITCHES[fact] }
  }
  // The SDK's limit of 128 attributes drops the ones set last.
  if (span.droppedAttributesCount > 0) return { why: 'truncated', switch: 'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT' }
  // A complete request without instructions and tools had none.
  const isOptional = fact === 'systemInstructions' || fact === 'toolDefinitions'
  return isOptional && requestMessages(shownJson(span, 'input.value')) !== undefined
    ? undefined
    : { why: 'not-recorded' }
}

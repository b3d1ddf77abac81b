import type { Absence, ContentFact, Dialect, SpanOutcome, SpanRole } from '../dialect.ts'
import { isRecord, parseJson, parseJsonTwice, textOf } from '../json.ts'
import { asideKind, middlewareNode } from '../asides.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { retrievalOfKind, toDocuments } from '../content/documents.ts'
import { outcomeOf } from '../outcome.ts'
import { semconvInput, semconvInstructions, semconvOutput, semconvToolDefinitions } from '../content/semconv-content.ts'
import { operationOf, semconvModel, semconvTool, semconvUsage } from '../semconv.ts'
import type { SourceLog, SourceSpan } from '../source-span.ts'

/**
 * The GenAI semantic conventions in all their versions: hand-written spans, the official OpenTelemetry instrumentations, and libraries
 * without a dialect of their own.
 */
export const genAi: Dialect = {
  name: 'gen-ai',

  namespaces: ['gen_ai.', 'mcp.'],
  names: ['invoke_agent ', 'execute_tool '],
  kindKeys: ['gen_ai.operation.name', 'mcp.method.name'],
  recognises: (scopeName, attributes, spanName) =>
    OFFICIAL_SCOPE.test(scopeName) ||
    attributes['gen_ai.operation.name'] !== undefined ||
    attributes['gen_ai.provider.name'] !== undefined ||
    attributes['gen_ai.system'] !== undefined ||
    attributes['gen_ai.tool.name'] !== undefined ||
    attributes['gen_ai.agent.name'] !== undefined ||
    attributes['gen_ai.request.model'] !== undefined ||
    attributes['mcp.method.name'] !== undefined ||
    spanName.startsWith('invoke_agent ') ||
    spanName.startsWith('execute_tool '),

  roleOf(span): SpanRole {
    const { attributes } = span
    const role = ROLES.get(operationOf(attributes) ?? '')
    if (role !== undefined) return role
    const method = attributes['mcp.method.name']
    if (method !== undefined) return method === 'tools/call' ? 'tool' : 'step'
    if (attributes['gen_ai.operation.name'] !== undefined) return isModelCall(attributes) ? 'model' : 'step'
    if (attributes['gen_ai.tool.name'] !== undefined || attributes['gen_ai.tool.call.id'] !== undefined) return 'tool'
    // For conventions before operation names existed, or if a collector removed them.
    const byName = ROLES.get(span.name.split(' ', 1)[0] ?? '')
    if (byName !== undefined) return byName
    const hasProvider = (attributes['gen_ai.system'] ?? attributes['gen_ai.provider.name']) !== undefined
    return attributes['gen_ai.request.model'] !== undefined && hasProvider ? 'model' : 'step'
  },

  aside: (span) =>
    asideKind(operationOf(span.attributes)) ??
    (span.attributes['mcp.method.name'] === READ_RESOURCE ? 'retrieval' : middlewareNode(span.name)),

  // The agents of a workflow that states question or answer work on it. One that states neither may be a session with many questions.
  isSingleRun(span) {
    const operation = operationOf(span.attributes) ?? span.name
    if (/^invoke_(swarm|graph)\b/.test(operation) || ONE_RUN.test(span.scope.name)) return true
    const { 'gen_ai.input.messages': asked, 'gen_ai.output.messages': said } = span.attributes
    return operation === 'invoke_workflow' && (asked ?? said) !== undefined
  },

  agent(span) {
    const name = textOf(span.attributes['gen_ai.agent.name']) ?? textOf(span.attributes['gen_ai.workflow.name'])
    const id = textOf(span.attributes['gen_ai.agent.id'])
    const version = textOf(span.attributes['gen_ai.agent.version'])
    if (name === undefined && id === undefined && version === undefined) return undefined
    return {
      ...(name !== undefined && { name }),
      ...(id !== undefined && { id }),
      ...(version !== undefined && { version }),
    }
  },

  systemInstructions: semconvInstructions,
  input: semconvInput,
  output: semconvOutput,
  toolDefinitions: semconvToolDefinitions,

  // OpenLLMetry's instrumentation of Anthropic for Python leaves out the calls of Anthropic's own tools, which are offered without a schema.
  mayHideCalls: (span) =>
    span.scope.name === 'opentelemetry.instrumentation.anthropic' &&
    semconvToolDefinitions(span)?.some(({ parameters }) => parameters === undefined) === true,

  model: (span) => semconvModel(span.attributes),
  usage: (span) => semconvUsage(span.attributes),

  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    if (outcome.error !== undefined) return outcome
    // A user of a voice agent interrupted it, or left.
    const reason = span.attributes[END_REASON]
    if (reason === 'interrupted' || reason === 'session_closed') return { status: 'aborted' }
    // Rig (Rust) does not set the status of a tool that failed or was declined.
    const written = span.attributes[TOOL_OUTCOME]
    if (written === 'success') return { status: 'ok' }
    if (written !== 'error' && written !== 'denied') return outcome
    return {
      status: 'error',
      error: {
        type: textOf(span.attributes['gen_ai.tool.error.type']) ?? written,
      },
    }
  },

  tool(span) {
    const tool = semconvTool(span.attributes)
    if (tool !== undefined) {
      const written = span.attributes[TOOL_OUTCOME]
      if (written === 'denied') return { ...tool, executed: false, rejected: true }
      return written === 'skipped' ? { ...tool, executed: false } : tool
    }
    const name = /^(?:execute_tool|tools\/call) (\S.*)$/.exec(span.name)?.[1]
    const id = textOf(span.attributes['gen_ai.tool.call.id'])
    return name === undefined ? undefined : { name, ...(id !== undefined && { id }) }
  },
  toolArguments: (span) => parseJsonTwice(firstOf(span, ARGUMENT_KEYS)) ?? functionArguments(span.attributes),
  toolResult(span) {
    const written = firstOf(span, RESULT_KEYS)
    // If arguments are structured, results are too, so a text result is just text.
    const isText = isRecord(firstOf(span, ARGUMENT_KEYS)) || span.attributes['code.function.return.type'] === 'str'
    const result = isText ? written : parseJson(written)
    return isToolMessage(result, span) ? result.content : result
  },

  retrieval(span) {
    const { attributes } = span
    if (attributes['mcp.method.name'] === READ_RESOURCE) {
      return { kind: 'search', source: textOf(attributes['mcp.resource.uri']) }
    }
    const query = attributes['gen_ai.retrieval.query.text'] ?? attributes['gen_ai.memory.query.text']
    const source = textOf(attributes['gen_ai.data_source.id']) ?? textOf(attributes['gen_ai.memory.store.id'])
    const found = retrievalOfKind(operationOf(attributes), () => query)
    return found && { ...found, source }
  },
  documents: (span) => toDocuments(jsonAttribute(span, RETRIEVED)) ?? toDocuments(jsonAttribute(span, MEMORIES)),

  absence: absenceOf,

  contentKeys: ['gen_ai.system_instructions', 'gen_ai.input.messages', 'gen_ai.output.messages']
    .concat([
      'gen_ai.tool.definitions',
      'gen_ai.tool.call.arguments',
      'gen_ai.tool.call.result',
      'gen_ai.tool.description',
    ])
    .concat(['gen_ai.prompt', 'gen_ai.prompt.*', 'gen_ai.completion', 'gen_ai.completion.*', 'gen_ai.retrieval.*'])
    .concat(['gen_ai.request.messages', 'gen_ai.response.text', 'gen_ai.response.tool_calls', 'gen_ai.tool.args'])
    .concat(['gen_ai.input.messages_delta', 'request_data', 'response_data'])
    .concat(['gen_ai.task.input', 'gen_ai.task.output', 'gen_ai.event.content', 'metadata.gen_ai.system_instructions'])
    .concat(['gen_ai.tool.input', 'gen_ai.tool.output', 'gen_ai.memory.query.text', 'gen_ai.memory.records'])
    .concat(['gen_ai.request.tools', 'gen_ai.request.functions.*', 'gen_ai.tool.json_schema'])
    .concat(['gen_ai.request.available_tools', 'code.function.parameters.*', 'code.function.return.value'])
    // LiveKit Agents, with and without the mark of personal data.
    .concat(['lk.pii.*', 'lk.chat_ctx', 'lk.user_input', 'lk.response.text', 'lk.response.function_calls'])
    .concat(['lk.function_tool.arguments', 'lk.function_tool.output']),
  // Logfire's list of a span's events.
  ownContentKeys: ['events', 'input.value', 'output.value'],
}

/**
 * Recognises a model call with an unknown operation name: the span has a model, and tokens or messages, unless its name suggests several
 * calls.
 */
function isModelCall(attributes: Readonly<Record<string, unknown>>): boolean {
  const isMore = /agent|task|workflow|chain|graph|step|loop|cycle|plan|run|tool|embed|rerank|retriev|guard|memory/i
  if (isMore.test(operationOf(attributes) ?? '')) return false
  const hasModel = attributes['gen_ai.request.model'] !== undefined || attributes['gen_ai.response.model'] !== undefined
  return hasModel && SAID_KEYS.some((key) => attributes[key] !== undefined)
}

const SAID_KEYS = [
  'gen_ai.output.messages',
  'gen_ai.completion.0.content',
  'gen_ai.completion.0.role',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.completion_tokens',
]

/** Whether a result is the whole message to the model that answers this call, as Azure's tracer of LangChain writes it. */
function isToolMessage(result: unknown, { attributes }: SourceSpan): result is { content: unknown } {
  const id = attributes['gen_ai.tool.call.id']
  return id !== undefined && isRecord(result) && result.tool_call_id === id && 'content' in result
}

/** Older versions of Python's google-genai instrumentation write each parameter of a function separately. */
function functionArguments(attributes: Readonly<Record<string, unknown>>): unknown {
  const given: [string, unknown][] = []
  for (const key in attributes) {
    if (!key.startsWith(PARAMETER) || !key.endsWith('.value')) continue
    const name = key.slice(PARAMETER.length, -'.value'.length)
    const isText = attributes[`${PARAMETER}${name}.type`] === 'str'
    if (name !== '' && name !== '__proto__') given.push([name, isText ? attributes[key] : parseJson(attributes[key])])
  }
  if (given.length > 0) return Object.fromEntries(given)
  const takesNone = attributes['code.args.positional.count'] === 0 && attributes['code.args.keyword.count'] === 0
  return takesNone ? {} : undefined
}

const PARAMETER = 'code.function.parameters.'

/** OpenTelemetry's own instrumentations, whose spans may have no attributes at the start. */
const OFFICIAL_SCOPE =
  /^(?:@opentelemetry\/instrumentation-openai$|opentelemetry\.(?:util\.genai\.|instrumentation\.(?:genai\.|openai_v2$|google_genai$|botocore\.bedrock-runtime$)))/

/** Libraries whose workflows have agents that hand over to one another. */
const ONE_RUN = /^opentelemetry\.instrumentation\.genai\.(?:llama_index|langchain)$/

/** Python instrumentations with a setting for the destination of content. */
const PYTHON_SCOPE = /^opentelemetry\.(?:util\.genai\.|instrumentation\.genai\.)/

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['invoke_agent', 'agent'],
  ['invoke_workflow', 'entry'],
  // The entry point of a runner, in which an agent answers a user.
  ['handle_conversation_turn', 'entry'],
  ['workflow', 'entry'],
  ['invoke_swarm', 'entry'],
  ['invoke_graph', 'entry'],
  ['chat', 'model'],
  ['generate_content', 'model'],
  ['text_completion', 'model'],
  ['completion', 'model'],
  ['generate', 'model'],
  ['responses', 'model'],
  // Rig's names for streaming calls and Gemini's Interactions API.
  ['chat_streaming', 'model'],
  ['interactions', 'model'],
  ['interactions_streaming', 'model'],
  ['execute_tool', 'tool'],
  ['handoff', 'handoff'],
  ['evaluation', 'evaluator'],
  // Gets the answer of an earlier call, which has a span.
  ['fetch_response', 'step'],
  ['speech_to_text', 'step'],
  ['text_to_speech', 'step'],
  // A decision model answers no user.
  ['decision', 'step'],
  ['decide', 'step'],
])

const READ_RESOURCE = 'resources/read'
const RETRIEVED = 'gen_ai.retrieval.documents'
const MEMORIES = 'gen_ai.memory.records'

const END_REASON = 'gen_ai.agent.invocation.end_reason'

/** The outcome of a tool call as Rig (Rust) writes it: `success`, `error`, `denied` or `skipped`. */
const TOOL_OUTCOME = 'gen_ai.tool.call.outcome'

/** Names from before the conventions had one. */
const ARGUMENT_KEYS = ['gen_ai.tool.call.arguments', 'gen_ai.tool.args', 'gen_ai.tool.input', 'tool_arguments'].concat([
  'input.value',
])
const RESULT_KEYS = ['gen_ai.tool.call.result', 'gen_ai.tool.output', 'tool_response'].concat([
  'code.function.return.value',
  'output.value',
])

function firstOf(span: SourceSpan, keys: readonly string[]): unknown {
  return keys.map((key) => span.attributes[key]).find((value) => value !== undefined)
}

function absenceOf(span: SourceSpan, fact: ContentFact, logs: readonly SourceLog[]): Absence | undefined {
  // The conventions only name ids and scores; instrumentations add the text, or applications do.
  if (fact === 'documents') {
    const isResource = span.attributes['mcp.method.name'] !== undefined
    return isResource
      ? { why: 'not-recorded' }
      : { why: 'not-recorded', switch: 'content in each of gen_ai.retrieval.documents' }
  }
  // If messages were recorded, there were no system instructions.
  const hasWords = fact === 'systemInstructions' && semconvInput(span, logs)?.some((item) => item.text !== undefined)
  if (hasWords === true) return undefined
  const isLeftOut = fact === 'toolCalls' && span.attributes['gen_ai.output.messages'] !== undefined
  if (fact === 'toolDefinitions' || isLeftOut) return { why: 'not-recorded' }
  if (PYTHON_SCOPE.test(span.scope.name)) {
    return {
      why: 'not-captured',
      switch: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only',
    }
  }
  // It writes each message as a log record, with or without its content.
  if (logs.length === 0 && span.scope.name === '@opentelemetry/instrumentation-openai') {
    return {
      why: 'not-captured',
      switch:
        'OTEL_LOGS_EXPORTER, or logRecordProcessors of NodeSDK: messages are log records, which need a logger provider',
    }
  }
  // The AWS SDK's instrumentation never records content.
  const mayRecord = span.scope.name.includes('instrumentation') && !span.scope.name.endsWith('instrumentation-aws-sdk')
  if (!mayRecord) return { why: 'not-recorded' }
  return {
    why: 'not-captured',
    switch: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true',
  }
}

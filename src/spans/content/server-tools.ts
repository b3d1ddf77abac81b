import { isRecord, parseJsonTwice, textOf } from '../json.ts'
import type { ToolCallPart, ToolCallResponsePart } from '../../model/message.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The call, the result, or both, in an item that records a tool of the model's provider, or a tool of the client that has its own type of
 * item. `undefined` for any other item. The formats are:
 *
 * - the conventions' `server_tool_call` and `server_tool_call_response`, whose payload has the provider's own fields;
 * - `hosted_tool_call` of OpenAI's Agents SDK for JavaScript, whose `providerData` is an item of the Responses API;
 * - items of OpenAI's Responses API: `web_search_call`, `mcp_call`, `code_interpreter_call`, … An item with a `call_id` is answered by the
 * client (`custom_tool_call`, `computer_call`), unless it says that the server executes it;
 * - Anthropic's `server_tool_use`, `mcp_tool_use` and `web_search_tool_result`, `mcp_tool_result`, …;
 * - LangChain's `server_tool_call` and `server_tool_result`;
 * - Gemini's `executable_code` and `code_execution_result`, and the items of its Interactions API (`google_search_call`);
 * - Mistral's `tool.execution`.
 */
export function toServerToolParts(value: Fields): readonly (ToolCallPart | ToolCallResponsePart)[] | undefined {
  const type = typeof value.type === 'string' ? value.type : ''
  if (type === '') return geminiCode(value)
  if (type === HOSTED) return hostedTool(value)
  if (type === 'server_tool_call') return callAndResult(value, payloadOf(value, type))
  if (type === 'server_tool_call_response') return [resultOf(idOf(value), payloadOf(value, type))]
  if (type === 'server_tool_use' || type === 'mcp_tool_use') return [callOf(value, value, textOf(value.name) ?? type)]
  if (type === 'mcp_approval_request') return [clientCall(value, textOf(value.name) ?? 'mcp')]
  if (type === 'tool.execution') return callAndResult(value, { ...value, output: value.info ?? value.output })
  if (CLIENT_OUTPUT.test(type)) return [resultOf(idOf(value), value)]
  if (SERVER_RESULT.test(type) && !OWN_RESULTS.has(type)) return [resultOf(idOf(value), value)]
  if (!CALL.test(type) || OWN_CALLS.has(type)) return undefined
  const isClients = typeof value.call_id === 'string' && value.execution !== 'server'
  return isClients ? [clientCall(value, textOf(value.name) ?? nameOf(type))] : callAndResult(value, value)
}

const HOSTED = 'hosted_tool_call'

function hostedTool({ name, providerData, ...item }: Fields): ReturnType<typeof toServerToolParts> {
  const inner = { ...item, type: name, ...(isRecord(providerData) && providerData) }
  return inner.type === HOSTED ? undefined : toServerToolParts(inner)
}

/** `web_search_call` */
const CALL = /^\w{1,100}_call$/
/** Calls of functions, and the conventions' parts. */
const OWN_CALLS: ReadonlySet<string> = new Set(['function_call', 'tool_call'])
/** `web_search_tool_result`, `mcp_tool_result`, `google_search_result` */
const SERVER_RESULT = /^\w{1,100}_result$/
const OWN_RESULTS: ReadonlySet<string> = new Set(['tool_result', 'function_call_result'])
/** `custom_tool_call_output`, `computer_call_output`, `tool_search_output` */
const CLIENT_OUTPUT = /^(?:(?!function_)\w{1,100}_call_output|tool_search_output)$/

/** The provider's own fields. The names of some instrumentations are in the payload's `type` alone. */
function payloadOf(value: Fields, key: string): Fields {
  const payload = value[key]
  return isRecord(payload) ? payload : payload === undefined ? value : { output: payload }
}

function callAndResult(value: Fields, body: Fields): readonly (ToolCallPart | ToolCallResponsePart)[] {
  const type = textOf(body.type) ?? textOf(value.type) ?? ''
  const call = callOf(value, body, textOf(value.name) ?? textOf(body.name) ?? nameOf(type))
  const hasResult = RESULT_KEYS.some((key) => isPresent(body[key])) || isFailed(body) || sourcesOf(body) !== undefined
  return hasResult ? [call, resultOf(call.id, body)] : [call]
}

function callOf(value: Fields, body: Fields, name: string): ToolCallPart {
  const id = idOf(value)
  const given = argumentsOf(body)
  return {
    type: 'tool_call',
    name,
    ...(id !== undefined && { id }),
    ...(given !== undefined && { arguments: given }),
    providerExecuted: true,
  }
}

/** A call that the client runs or approves. */
function clientCall(value: Fields, name: string): ToolCallPart {
  const { providerExecuted: _, ...call } = callOf(value, { ...value, action: value.action ?? value.operation }, name)
  return call
}

function idOf(value: Fields): string | undefined {
  return (
    textOf(value.call_id) ??
    textOf(value.tool_use_id) ??
    textOf(value.tool_call_id) ??
    textOf(value.approval_request_id) ??
    textOf(value.id)
  )
}

/** `web_search_call` is a call of `web_search`. */
function nameOf(type: string): string {
  return type.endsWith('_call') ? type.slice(0, -'_call'.length) : type
}

const ARGUMENT_KEYS = ['input', 'arguments', 'args', 'action'] as const
/** The arguments of tools whose items have them side by side with other fields. */
const BESIDE_KEYS = ['query', 'queries', 'code', 'language', 'prompt'] as const
const RESULT_KEYS = ['output', 'outputs', 'results', 'content'] as const

function argumentsOf(body: Fields): unknown {
  const written = ARGUMENT_KEYS.map((key) => body[key]).find(isPresent)
  if (written !== undefined) return written === '' ? {} : parseJsonTwice(written)
  const beside = BESIDE_KEYS.filter((key) => isPresent(body[key])).map((key) => [key, body[key]] as const)
  return beside.length === 0 ? undefined : Object.fromEntries(beside)
}

function resultOf(id: string | undefined, body: Fields): ToolCallResponsePart {
  const { error } = body
  const written = RESULT_KEYS.map((key) => body[key]).find(isPresent) ?? sourcesOf(body) ?? withoutHead(body)
  const isError = isFailed(body) || isErrorContent(written)
  const response = isError && isPresent(error) ? error : unwrap(written)
  return {
    type: 'tool_call_response',
    ...(id !== undefined && { id }),
    ...(response !== undefined && { response }),
    ...(isError && { isError }),
  }
}

/** OpenAI lists the pages that a search found, if the request asks for them. */
function sourcesOf({ action }: Fields): unknown {
  return isRecord(action) && Array.isArray(action.sources) ? action.sources : undefined
}

function isFailed({ error, status, is_error, outcome }: Fields): boolean {
  return isPresent(error) || status === 'failed' || status === 'error' || is_error === true || outcome === FAILED_CODE
}

/** Anthropic's `{ type: 'web_search_tool_result_error', error_code }` */
function isErrorContent(content: unknown): boolean {
  return isRecord(content) && typeof content.type === 'string' && content.type.endsWith('_error')
}

/** The payload of a result that has no field for it. */
function withoutHead(body: Fields): unknown {
  const rest = Object.entries(body).filter(([key]) => !HEAD_KEYS.has(key))
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

const HEAD_KEYS: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'tool_use_id',
  'tool_call_id',
  'status',
  'name',
  'caller',
  '__proto__',
])

/** The text of content blocks, as MCP servers return it. */
function unwrap(written: unknown): unknown {
  const isText = Array.isArray(written) && written.length > 0 && written.every(isTextBlock)
  return parseJsonTwice(isText ? written.map(({ text }) => text).join('') : written)
}

function isTextBlock(block: unknown): block is { readonly text: string } {
  return isRecord(block) && block.type === 'text' && typeof block.text === 'string'
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

const FAILED_CODE = 'OUTCOME_FAILED'

/** Gemini runs code in the middle of its answer. Older versions give no ids. */
function geminiCode(value: Fields): readonly (ToolCallPart | ToolCallResponsePart)[] | undefined {
  const code = [value.executable_code, value.executableCode].find(isRecord)
  if (code !== undefined) return [callOf(code, code, 'code_execution')]
  const result = [value.code_execution_result, value.codeExecutionResult].find(isRecord)
  return result === undefined ? undefined : [resultOf(textOf(result.id), result)]
}

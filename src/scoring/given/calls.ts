import type { ToolCall } from '../../model/agent-run.ts'
import { isRecord, parseJsonTwice, textOf } from '../../spans/json.ts'
import { formatValue } from '../format-value.ts'
import { KnownIds } from './known-ids.ts'

/** A tool call in messages that were passed to `.run()`, and its position in them. */
export interface GivenCall extends ToolCall {
  /** Index of the message that makes the call. `step` counts the assistant messages only. */
  readonly messageIndex: number
  /** Index of the call within that message. */
  readonly invocationIndex: number
}

/** One tool call that was found in messages, and its position in them. */
export interface ToolCallInfo {
  /** The tool that was called. */
  readonly toolName: string
  /** `''` if the call has none. */
  readonly toolCallId: string
  /** Index of the output message that makes the call; of the model call, in a run made from spans. */
  readonly messageIndex: number
  /** Index of the call within that message, or among the calls of that step. */
  readonly invocationIndex: number
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
type Source = Readonly<Record<string, unknown>>

/** The current position while messages are read. */
export interface Place {
  readonly messageIndex: number
  readonly step: number
  /** Tool calls of this message that have been read so far. */
  invocations: number
}

/**
 * Collects the tool calls of messages in their order. UI messages, steps and response messages may mention the same call, so a
 * repeated id does not count again: the result or error of a later mention is added to the first.
 */
export class GivenCalls {
  readonly infos: ToolCallInfo[] = []
  readonly #ids = new KnownIds()
  readonly #isEarlier: (id: string) => boolean
  readonly #sources: CallSources | undefined

  /**
   * @param isEarlier whether a call with this id is in the input: a result in the output then does not count as a new call
   * @param sources collects the messages' own objects, if the arguments and results of the calls are read too
   */
  constructor(isEarlier: (id: string) => boolean = () => false, sources?: CallSources) {
    this.#isEarlier = isEarlier
    this.#sources = sources
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Optional hint that this many calls will be added, which makes lookups faster. */
  expect(count: number): void {
    this.#ids.expect(count)
  }

  /** Adds a call, perhaps with its result: AI SDK `tool-call`, UI part or invocation, OpenAI `tool_calls`, Anthropic `tool_use`. */
  add(source: Source, place: Place): void {
    const invocationIndex = place.invocations++
    if (isPartial(source.state)) return
    const toolName = toolNameOf(source)
    if (toolName === undefined) return
    const id = callId(source)
    if (id !== undefined && !this.#ids.add(id)) {
      this.#sources?.mentions.push([id, source])
      return
    }
    this.infos.push({ toolName, toolCallId: id ?? '', messageIndex: place.messageIndex, invocationIndex })
    this.#sources?.calls.push([source, place.step])
  }

  /** Adds the result of a call: `tool-result`, `tool-error`, `tool_result`, a message of role `tool`. */
  answer(source: Source, place: Place): void {
    const id = responseId(source)
    if (id === undefined) return
    if (this.#ids.has(id)) this.#sources?.mentions.push([id, source])
    else if (textOf(source.toolName) !== undefined && !this.#isEarlier(id)) this.add(source, place)
  }
}

/** The messages' own objects for each call, from which arguments and results are parsed only when `read` is called. */
export class CallSources {
  /** Entry i belongs to `infos[i]`. */
  readonly calls: (readonly [source: Source, step: number])[] = []
  /** Further mentions of calls, which may contain their results or errors. */
  readonly mentions: (readonly [id: string, source: Source])[] = []

  /** Returns the calls with their arguments and results. */
  read(infos: readonly ToolCallInfo[]): GivenCall[] {
    const calls = infos.map((info, index) => {
      const [source, step] = this.calls[index] ?? [{}, 0]
      return readCall(info, step, source)
    })
    if (this.mentions.length > 0) {
      const byId = new Map(calls.map((call) => [call.id, call]))
      for (const [id, source] of this.mentions) {
        const call = byId.get(id)
        if (call !== undefined) addOutcome(call, source)
      }
    }
    return calls
  }
}

function readCall(info: ToolCallInfo, step: number, source: Source): Mutable<GivenCall> {
  const { toolName, toolCallId, messageIndex, invocationIndex } = info
  const callee = calleeOf(source)
  const args = callee.args ?? callee.input ?? callee.arguments ?? callee.rawInput
  const call: Mutable<GivenCall> = {
    ...(toolCallId !== '' && { id: toolCallId }),
    name: toolName,
    ...(args !== undefined && { arguments: args === '' ? {} : parseJsonTwice(args) }),
    status: 'unknown',
    step,
    providerExecuted: source.providerExecuted === true || source.type === 'server_tool_use',
    messageIndex,
    invocationIndex,
  }
  addOutcome(call, source)
  return call
}

/** OpenAI keeps name and arguments in `function`. */
function calleeOf(source: Source): Source {
  return isRecord(source.function) ? source.function : source
}

/** The name of the tool that is called. */
export function toolNameOf(source: Source): string | undefined {
  const callee = calleeOf(source)
  return textOf(callee.toolName) ?? textOf(callee.name) ?? nameInType(source.type)
}

/** The id of a call. */
export function callId(source: Record<string, unknown>): string | undefined {
  return textOf(source.toolCallId) ?? textOf(source.call_id) ?? textOf(source.id)
}

/** The id of the call that a response belongs to. */
export function responseId(source: Record<string, unknown>): string | undefined {
  return textOf(source.tool_use_id) ?? textOf(source.tool_call_id) ?? callId(source)
}

/** The value of a response, under any library's name for it. */
export function responseOf(source: Record<string, unknown>): unknown {
  const response = source.result ?? source.output ?? source.response ?? source.content
  // AI SDK 5 and later: { type: 'json' | 'text' | 'error-text' | 'error-json' | 'content', value }.
  return isRecord(response) && typeof response.type === 'string' && 'value' in response ? response.value : response
}

/** Whether a response reports that the tool failed. */
export function isErrorResponse(source: Record<string, unknown>): boolean {
  return (
    source.isError === true ||
    source.is_error === true ||
    source.type === 'tool-error' ||
    source.state === 'output-error' ||
    source.state === 'error' ||
    textOf(source.errorText) !== undefined ||
    (isRecord(source.output) && (source.output.type === 'error-text' || source.output.type === 'error-json'))
  )
}

function addOutcome(call: Mutable<GivenCall>, source: Record<string, unknown>): void {
  if (call.status === 'ok' || call.status === 'error') return
  if (source.state === 'output-denied' || source.invalid === true) {
    call.status = 'not-executed'
    if (source.invalid === true) call.error = toError(source.error) ?? {}
  } else if (isErrorResponse(source)) {
    call.status = 'error'
    call.error = toError(source.errorText ?? source.error ?? responseOf(source)) ?? {}
  } else {
    const response = responseOf(source)
    if (response === undefined && source.state !== 'result' && source.state !== 'output-available') return
    call.status = 'ok'
    if (response !== undefined) call.result = parseJsonTwice(response)
  }
}

function toError(value: unknown): { type?: string; message?: string } | undefined {
  if (value instanceof Error) return { type: value.name, message: value.message }
  if (isRecord(value)) {
    const [type, message] = [textOf(value.name), textOf(value.message)]
    return { ...(type !== undefined && { type }), message: message ?? formatValue(value, 1000) }
  }
  return value === undefined || value === null
    ? undefined
    : { message: typeof value === 'string' ? value : formatValue(value, 1000) }
}

/** Whether the arguments are still streaming in and may still change. */
function isPartial(state: unknown): boolean {
  return state === 'partial-call' || state === 'input-streaming'
}

const CALL_TYPES: ReadonlySet<string> = new Set(['tool-call', 'tool-invocation'])

/** UI parts have the tool's name in their type: `tool-weather`. */
function nameInType(type: unknown): string | undefined {
  return typeof type === 'string' && type.startsWith('tool-') && !CALL_TYPES.has(type)
    ? textOf(type.slice('tool-'.length))
    : undefined
}

import type { ToolCall } from '../runs/agent-run.ts'
import { isRecord, parseJsonTwice, textOf } from '../spans/json.ts'
import type { RunError } from '../spans/message.ts'
import { show } from './show.ts'

/** A tool call read from messages that were given to `.run()`, and where in them it stands. */
export interface GivenCall extends ToolCall {
  /** Index of the message that makes the call. `step` counts the assistant messages only. */
  readonly messageIndex: number
  /** Index of the call within that message. */
  readonly invocationIndex: number
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** A class for speed alone: engines leave room in its instances for what is added later. */
class Call implements Mutable<GivenCall> {
  declare id?: string
  declare arguments?: unknown
  declare result?: unknown
  declare error?: RunError
  name: string
  status: ToolCall['status'] = 'unknown'
  step: number
  providerExecuted: boolean
  messageIndex: number
  invocationIndex: number

  constructor(name: string, place: Place, invocationIndex: number, providerExecuted: boolean) {
    this.name = name
    this.step = place.step
    this.providerExecuted = providerExecuted
    this.messageIndex = place.messageIndex
    this.invocationIndex = invocationIndex
  }
}

/** Where in the messages the reader stands. */
export interface Place {
  readonly messageIndex: number
  readonly step: number
  /** Invocations met in this message so far. */
  invocations: number
}

/**
 * Collects the calls of messages in their order. An id counts once, in whatever message it is repeated, as UI messages,
 * steps and response messages tell of the same call; what a later mention knows more (result, error) is added to the first.
 */
export class GivenCalls {
  readonly #calls: Mutable<GivenCall>[] = []
  readonly #ids = new Set<string>()
  readonly #byId = new Map<string, Mutable<GivenCall>>()
  #indexed = 0
  readonly #isEarlier: (id: string) => boolean

  /** @param isEarlier whether an id is that of a call in the input: a result of its in the output is no new call */
  constructor(isEarlier: (id: string) => boolean = () => false) {
    this.#isEarlier = isEarlier
  }

  get list(): readonly GivenCall[] {
    return this.#calls
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** A call, perhaps with its outcome: AI SDK `tool-call`, UI part or invocation, OpenAI `tool_calls`, Anthropic `tool_use`. */
  add(source: Record<string, unknown>, place: Place): void {
    const invocationIndex = place.invocations++
    if (isPartial(source.state)) return
    const callee = isRecord(source.function) ? source.function : source
    const name = textOf(callee.toolName) ?? textOf(callee.name) ?? nameInType(source.type)
    if (name === undefined) return
    const id = callId(source)
    if (id !== undefined) {
      const known = this.#ids.size
      this.#ids.add(id)
      if (this.#ids.size === known) {
        this.#addOutcome(id, source)
        return
      }
    }
    const args = callee.args ?? callee.input ?? callee.arguments ?? callee.rawInput
    const byProvider = source.providerExecuted === true || source.type === 'server_tool_use'
    const call = new Call(name, place, invocationIndex, byProvider)
    if (id !== undefined) call.id = id
    if (args !== undefined) call.arguments = args === '' ? {} : parseJsonTwice(args)
    addOutcome(call, source)
    this.#calls.push(call)
  }

  /** The outcome of a call: `tool-result`, `tool-error`, `tool_result`, a message of role `tool`. */
  answer(source: Record<string, unknown>, place: Place): void {
    const id = responseId(source)
    if (id === undefined) return
    if (this.#ids.has(id)) this.#addOutcome(id, source)
    else if (textOf(source.toolName) !== undefined && !this.#isEarlier(id)) this.add(source, place)
  }

  #addOutcome(id: string, source: Record<string, unknown>): void {
    const call = this.#find(id)
    if (call !== undefined) addOutcome(call, source)
  }

  /** The index is made when it is first needed, and only for what is new: most calls tell of their outcome themselves. */
  #find(id: string): Mutable<GivenCall> | undefined {
    for (; this.#indexed < this.#calls.length; this.#indexed++) {
      const call = this.#calls[this.#indexed]
      if (call?.id !== undefined) this.#byId.set(call.id, call)
    }
    return this.#byId.get(id)
  }
}

/** The id that a call gives itself. */
export function callId(source: Record<string, unknown>): string | undefined {
  return textOf(source.toolCallId) ?? textOf(source.call_id) ?? textOf(source.id)
}

/** The id of the call that a response belongs to. */
export function responseId(source: Record<string, unknown>): string | undefined {
  return textOf(source.tool_use_id) ?? textOf(source.tool_call_id) ?? callId(source)
}

/** What a response holds, whichever name its library gives it. */
export function responseOf(source: Record<string, unknown>): unknown {
  const response = source.result ?? source.output ?? source.response ?? source.content
  // AI SDK 5 and later: { type: 'json' | 'text' | 'error-text' | 'error-json' | 'content', value }.
  return isRecord(response) && typeof response.type === 'string' && 'value' in response ? response.value : response
}

/** Whether a response says that the tool failed. */
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
    return { ...(type !== undefined && { type }), message: message ?? show(value, 1000) }
  }
  return value === undefined || value === null
    ? undefined
    : { message: typeof value === 'string' ? value : show(value, 1000) }
}

/** Arguments that are still streaming in: the model may yet write something else. */
function isPartial(state: unknown): boolean {
  return state === 'partial-call' || state === 'input-streaming'
}

/** UI parts carry the name in their type: `tool-weather`. */
function nameInType(type: unknown): string | undefined {
  return typeof type === 'string' && type.startsWith('tool-') ? textOf(type.slice('tool-'.length)) : undefined
}

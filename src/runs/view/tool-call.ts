import { plain, TOOL_CALL_FACTS } from '../../model/facts.ts'
import type { WithAll } from '../../model/facts.ts'
import type { Dialect, ToolRunner } from '../../spans/dialect.ts'
import { isRecord, textOf, toJsonText } from '../../spans/json.ts'
import type { RunError, ToolCallResponsePart } from '../../model/message.ts'
import { unwrapBlocks } from '../../spans/content/parts.ts'
import type { ToolCall } from '../../model/agent-run.ts'
import { frozen } from './frozen.ts'
import { idOf, nameOf, type JoinedCall } from './join-tool-calls.ts'
import { printAsJson } from './print-as-json.ts'
import type { Responses } from './responses.ts'
import { isFailed } from './run-ending.ts'

/** What a tool call needs to know about its run. */
export interface CallContext {
  readonly responses: Responses
  /** What a missing span of a call means. */
  readonly toolSpans: NonNullable<Dialect['toolSpans']>
  /** The agent that made the call, if the run has several. */
  readonly agentName: () => string | undefined
  readonly childRunId: string | undefined
  /** Whether the run waits for a person, or for a client's tool. */
  readonly runWaits: () => boolean
  /** Whether the run's own span says that it waits. */
  readonly saysItWaits: boolean
  /** The id of the call for which the run waits, if its own span shows it. */
  readonly waitsFor: string | undefined
  /** Whether a person refused the call, by the run's own span. */
  readonly wasRefused: boolean
  /** Whether the run was aborted while the tool was running. */
  readonly wasCutOff: boolean
  /** Who runs the tool, if an earlier run asked for the call, and waited. */
  readonly runner: ToolRunner | undefined
  /** The trace of the run. */
  readonly traceId: string
  /** How many calls were requested before this one. */
  readonly position: number
}

/** A tool call whose arguments and result are read at first access. */
export class ReconstructedToolCall implements WithAll<ToolCall> {
  static {
    printAsJson(this.prototype)
  }

  readonly name: string
  readonly step: number
  readonly #call: JoinedCall
  readonly #context: CallContext
  #response: { readonly found: ToolCallResponsePart | undefined } | undefined

  constructor(call: JoinedCall, context: CallContext) {
    this.name = call.asked?.name ?? (call.tool && nameOf(call.tool)) ?? ''
    this.step = call.step
    this.#call = call
    this.#context = context
    Object.freeze(this)
  }

  get id(): string | undefined {
    const { asked, tool } = this.#call
    return asked?.id ?? (tool && idOf(tool))
  }

  get spanId(): string | undefined {
    return this.#call.tool?.span.spanId
  }

  get traceId(): string | undefined {
    const traceId = this.#call.tool?.span.traceId
    return traceId === this.#context.traceId ? undefined : traceId
  }

  get agentName(): string | undefined {
    return this.#context.agentName()
  }

  get childRunId(): string | undefined {
    return this.#context.childRunId
  }

  get providerExecuted(): boolean {
    const { asked, tool } = this.#call
    return (tool === undefined && asked?.providerExecuted === true) || tool?.tool?.providerExecuted === true
  }

  /** As the model wrote them. The span's are used if the model's are not recorded, or are not JSON while the span's are. */
  get arguments(): unknown {
    return frozen(this.#arguments())
  }

  get result(): unknown {
    return frozen(this.#result())
  }

  get error(): RunError | undefined {
    return frozen(this.#error())
  }

  /** Whether the library always writes a span of the tool, the tool answered the model, and the span is not there. */
  lacksItsSpan(): boolean {
    const { asked, tool } = this.#call
    const isExpected = this.#context.toolSpans === 'always' && asked !== undefined && tool === undefined
    return isExpected && !this.providerExecuted && !this.#wasRefused()
  }

  /** Whether nothing shows that the call was answered, or that its tool ran to its end. */
  isPending(): boolean {
    const { asked, tool } = this.#call
    if (this.providerExecuted || this.#context.wasRefused || (tool === undefined && asked === undefined)) return false
    if (tool !== undefined) {
      const { status } = tool.outcome
      const { saysItWaits, waitsFor } = this.#context
      const mayBeLeft = status === 'unknown' || (waitsFor !== undefined && waitsFor === this.id)
      const isLeft = saysItWaits && mayBeLeft && tool.toolResult === undefined
      if (status !== 'waiting' && !isLeft) return false
    }
    return this.#answer() === undefined
  }

  /** Whether the tool ran in this run, or somebody refused the call. */
  wasDecided(): boolean {
    return this.#call.tool !== undefined || this.#wasRefused()
  }

  /** Whether nothing shows that the tool came to its end: neither its span nor an answer to the model. */
  mayBeOpen(): boolean {
    return this.#call.tool?.tool?.mayBeOpen === true && this.error === undefined && this.#answer() === undefined
  }

  #arguments(): unknown {
    const { asked, tool } = this.#call
    const given = asked?.arguments
    // Hand-offs have none, and their spans have different ones from the model's.
    const isWhole = !isEmpty(given) || tool?.role === 'handoff'
    if (given !== undefined && typeof given !== 'string' && isWhole) return given
    return this.#fromSpan(tool, 'toolArguments') ?? given
  }

  #result(): unknown {
    if (this.#wasRefused() || this.#spanError() !== undefined) return undefined
    const result = this.#fromSpan(this.#call.tool, 'toolResult')
    const response = this.#answerOver(result)
    if (result !== undefined && response === undefined) return protocolError(result) === undefined ? result : undefined
    if (response === undefined || this.#isErrorAnswer(response)) return undefined
    // With content capture off, arguments are omitted and the response is null.
    if (response.response === null && this.arguments === undefined) return undefined
    // JavaScript libraries send this to a model if a tool returned nothing.
    return response.response === 'undefined' && this.#call.tool !== undefined ? undefined : response.response
  }

  #error(): RunError | undefined {
    const error = this.#spanError()
    if (error !== undefined) return saysWhy(error) ? error : { ...error, ...this.#toldMessage() }
    // The span ended successfully, with a result. The messages have nothing to add.
    const result = this.#fromSpan(this.#call.tool, 'toolResult')
    if (result !== undefined && !this.#wasRefused()) return protocolError(result)
    const response = this.#answer()
    if (response === undefined || !(this.#isErrorAnswer(response) || this.#wasRefused())) return undefined
    const message = textOf(toJsonText(response.response))
    return message === undefined ? {} : { message }
  }

  get status(): ToolCall['status'] {
    if (this.isPending() && this.#context.runWaits()) return 'waiting'
    if (this.#wasRefused()) return this.#wasRejected() ? 'rejected' : 'not-executed'
    if (this.error !== undefined) return 'error'
    if (this.mayBeOpen() || this.#isRefusedOrAnswered()) return 'unknown'
    if (this.#call.tool !== undefined || this.#answer() !== undefined) return 'ok'
    return this.providerExecuted ? 'unknown' : this.#context.toolSpans === 'always' ? 'not-executed' : 'unknown'
  }

  toJSON(): ToolCall {
    return plain<ToolCall, keyof ToolCall>(this, TOOL_CALL_FACTS)
  }

  /** Whether the model asked and no tool ran: the library always writes a span, or the answer says so. */
  #wasRefused(): boolean {
    const { tool } = this.#call
    if (tool !== undefined) return tool.tool?.executed === false || this.#wasRejected()
    if (this.providerExecuted) return false
    if (this.#wasRejected()) return true
    if (this.#context.runner === 'client' || this.#isRefusedOrAnswered()) return false
    const answer = this.#answer()
    const text = typeof answer?.response === 'string' ? answer.response : ''
    if (this.#context.toolSpans === 'always-or-refused' && answer !== undefined) return true
    if (this.#context.toolSpans !== 'always') return readsAsRefusal(text)
    // If the tool answered the model, the tool ran, and its span is lost.
    return answer === undefined || answer.isError === true || readsAsRefusal(text) || readsAsError(text)
  }

  /** Whether somebody answered the call in place of the tool, and the answer may be a result or a refusal. */
  #isRefusedOrAnswered(): boolean {
    const isFromOutside = this.#context.runner === 'agent' && this.#call.tool === undefined
    return isFromOutside && this.#context.toolSpans === 'always-or-refused' && !this.#wasRejected()
  }

  /** Whether a person refused the call. */
  #wasRejected(): boolean {
    const { tool } = this.#call
    if (tool === undefined) {
      if (this.#context.wasRefused) return true
      const answer = this.#answer()
      const isForApproval = this.#context.runner === 'agent if approved'
      const wasRefused = this.#context.toolSpans === 'always-or-refused' || answer?.isError === true
      return (isForApproval && wasRefused && answer !== undefined) || readsAsRejection(answer?.response)
    }
    // Some libraries write a span for the call that was not made, with what they tell the model.
    if (tool.tool?.rejected === true || readsAsRejection(tool.outcome.error?.message)) return true
    return readsAsRejection(this.#fromSpan(tool, 'toolResult'))
  }

  #isErrorAnswer({ isError, response }: ToolCallResponsePart): boolean {
    if (isError === true) return true
    if (this.#call.tool !== undefined || typeof response !== 'string') return false
    return this.#context.toolSpans === 'unless-failed' ? readsAsLostError(response) : readsAsError(response)
  }

  /** The result in the messages, if the span has none, or is a hand-off's, which only has its target. */
  #answerOver(result: unknown): ToolCallResponsePart | undefined {
    return result === undefined || this.#call.tool?.role === 'handoff' ? this.#answer() : undefined
  }

  /** The text sent to the model about an error, or the span's result, if the error of the span does not say why. */
  #toldMessage(): RunError {
    const message =
      textOf(this.#answer()?.response) ?? textOf(toJsonText(this.#fromSpan(this.#call.tool, 'toolResult')))
    return message === undefined ? {} : { message }
  }

  #spanError(): RunError | undefined {
    const { tool } = this.#call
    if (tool === undefined) return undefined
    // Of two records of one call, only the inner one may know how it ended.
    const failed = isFailed(tool.outcome) ? tool : tool.inner.find((span) => isFailed(span.outcome))
    if (failed === undefined) return this.#context.wasCutOff ? {} : undefined
    const { error } = failed.outcome
    // A hand-off with an answer took place. Of several at the same time, the span of the one that won reports an error.
    const isDone = error?.message === undefined && tool.role === 'handoff' && this.#answer() !== undefined
    return isDone ? undefined : (error ?? {})
  }

  #fromSpan(tool: JoinedCall['tool'], fact: 'toolArguments' | 'toolResult'): unknown {
    if (tool === undefined) return undefined
    const own = tool[fact]
    return own === undefined ? tool.inner.map((node) => node[fact]).find((value) => value !== undefined) : own
  }

  #answer(): ToolCallResponsePart | undefined {
    this.#response ??= { found: this.#context.responses.find(this.#call, this.#context.position) }
    return this.#response.found
  }
}

/** The Model Context Protocol reports a tool's failure in its result: `{ content: [{ type: 'text', text }], isError: true }`. */
function protocolError(result: unknown): RunError | undefined {
  if (!isRecord(result) || result.isError !== true || !Array.isArray(result.content)) return undefined
  const message = textOf(toJsonText(unwrapBlocks(result.content)))
  return message === undefined ? {} : { message }
}

/** A message that says no more than that the call failed. */
const GENERIC = /^(?:(?:the|a|an|unknown|tool|function|call|execution|error|failed|failure)(?![a-z])[\s_.!:-]*)+$/i

function saysWhy({ message }: RunError): boolean {
  return message !== undefined && !GENERIC.test(message)
}

/** Some instrumentations of streams record the arguments before their first part arrives. */
function isEmpty(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0
}

// The texts by which libraries report to the model that a tool failed or did not run.

/** For a tool whose span is lost when it throws: the answer is the error. */
function readsAsLostError(text: string): boolean {
  return /^(?:\w{0,200}Error|\w{0,200}Exception)\b/.test(text)
}

/** For a tool without a span: the texts that applications and LangGraph write for an error. */
function readsAsError(text: string): boolean {
  return /^(?:\w{0,200}(?:Error|Exception): \S|Error invoking tool )/.test(text)
}

/**
 * What Pydantic AI, the OpenAI Agents SDK, the AI SDK and LangChain tell the model of a call that a person refused, if the application has no
 * text of its own.
 */
function readsAsRejection(response: unknown): boolean {
  return typeof response === 'string' && REJECTION.test(response)
}

const REJECTION =
  /^(?:The tool call was denied\.|Tool execution was not approved\.|Tool (?:call )?execution denied\.|User rejected the tool call for `[^`]{1,200}` with (?:id \S{1,200}|reason: [^]*))$/

/** How LangGraph reports that no tool ran: for unknown tools and invalid arguments. */
function readsAsRefusal(text: string): boolean {
  if (/^Error: (?:\S+ is not a valid tool, try|Tool "[^"]*" not found\.|Received tool input did not match)/.test(text))
    return true
  return text.startsWith('Error invoking tool ') && text.includes('did not match expected schema')
}

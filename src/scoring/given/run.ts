import type { AgentRun, ModelCall, Retrieval } from '../../model/agent-run.ts'
import { plain, AGENT_RUN_FACTS } from '../../model/facts.ts'
import { fileSearches } from '../../runs/view/file-search.ts'
import { lastUserText } from '../../runs/view/message-text.ts'
import { printAsJson } from '../../runs/view/print-as-json.ts'
import { nodeCrypto } from '../../spans/node-crypto.ts'
import { isRecord, numberOf, textOf } from '../../spans/json.ts'
import { plausibleUsage } from '../../spans/outside-number.ts'
import type { Message, ToolDefinition, Usage } from '../../model/message.ts'
import { toToolDefinitions } from '../../spans/content/tool-definitions.ts'
import { CallSources, GivenCalls } from './calls.ts'
import type { GivenCall, ToolCallInfo } from './calls.ts'
import { checkAnswerRole, checkMessage, readCalls, readMessages } from './messages.ts'
import { toGivenResult } from './result.ts'
import type { GivenResult } from './result.ts'
import { formatValue } from '../format-value.ts'
import { refuseUnknown } from '../refuse-unknown.ts'

const NOTHING = Object.freeze({})
const NO_ENTRIES: readonly never[] = Object.freeze([])
const SCOPE = Object.freeze({ name: 'spanscore' })
/** The ids that mean "no trace" and "no span" in OpenTelemetry. */
const [NO_TRACE, NO_SPAN] = ['0'.repeat(32), '0'.repeat(16)]

/** A run whose messages were passed to `.run()`. Like a run made from spans, it reads a fact only when something asks for it. */
export class PassedRun implements AgentRun {
  static {
    printAsJson(this.prototype, ['toolCallInfos'])
  }

  readonly id: string
  readonly traceId: string = NO_TRACE
  readonly spanId: string = NO_SPAN
  readonly dialect: string = 'messages'
  readonly agent: AgentRun['agent'] = NOTHING
  readonly children: readonly AgentRun[] = NO_ENTRIES
  readonly sideCalls: AgentRun['sideCalls'] = NO_ENTRIES
  readonly models: readonly string[] = NO_ENTRIES
  readonly startTimeMs: number = 0
  readonly endTimeMs: number = 0
  readonly content: AgentRun['content'] = 'full'
  readonly missing: AgentRun['missing'] = NO_ENTRIES
  readonly complete: boolean = true
  readonly revision: number = 1
  readonly attributes: AgentRun['attributes'] = NOTHING
  readonly resource: AgentRun['resource'] = NOTHING
  readonly scope: AgentRun['scope'] = SCOPE
  readonly #given: Readonly<Record<string, unknown>>
  readonly #result: GivenResult | undefined
  #infos: readonly ToolCallInfo[] | undefined
  #calls: readonly GivenCall[] | undefined
  #conversation: { readonly input: readonly Message[]; readonly system: string | undefined } | undefined
  #messages: readonly Message[] | undefined

  /** @throws TypeError if the form of the input or output is unknown, or something was misspelt in it */
  constructor(given: Readonly<Record<string, unknown>>) {
    this.#given = given
    this.id = textOf(given.runId) ?? nodeCrypto().randomUUID()
    checkInput(given.input)
    this.#result = checkOutput(given.output)
  }

  get toolCalls(): readonly GivenCall[] {
    if (this.#calls === undefined) {
      const sources = new CallSources()
      this.#calls = sources.read(this.#findCalls(sources))
    }
    return this.#calls
  }

  /** Names, ids and positions of the tool calls, without arguments and results. */
  get toolCallInfos(): readonly ToolCallInfo[] {
    this.#infos ??= this.#findCalls()
    return this.#infos
  }

  get input(): readonly Message[] {
    return this.#read().input
  }

  get systemInstructions(): string | undefined {
    return this.#read().system
  }

  get userInput(): string | undefined {
    return lastUserText(this.input)
  }

  get output(): string | undefined {
    return this.#result?.text ?? answerText(this.#answers())
  }

  get availableTools(): readonly ToolDefinition[] | undefined {
    const { input } = this.#given
    return isRecord(input) && input.role === undefined
      ? toToolDefinitions(input.tools ?? input.availableTools)
      : undefined
  }

  /** Searches of the model's provider; messages show no others. */
  get retrievals(): readonly Retrieval[] {
    return fileSearches(this.toolCalls)
  }

  get steps(): readonly ModelCall[] {
    const answers = this.#answers().filter(({ role }) => role === 'assistant')
    const idsByStep = answers.map((): string[] => [])
    for (const { step, id } of this.toolCalls) if (id !== undefined) idsByStep[step]?.push(id)
    return answers.map((message, step) => ({
      output: [message],
      toolCallIds: idsByStep[step] ?? [],
      usage: {},
      finishReasons: [],
      status: 'ok',
    }))
  }

  get usage(): Usage {
    return toUsage(this.#result?.usage)
  }

  get status(): AgentRun['status'] {
    return this.#result?.finishReason === 'error' ? 'error' : 'ok'
  }

  toJSON(): AgentRun {
    return plain<AgentRun, keyof AgentRun>(this, AGENT_RUN_FACTS)
  }

  #findCalls(sources?: CallSources): readonly ToolCallInfo[] {
    let earlier: GivenCalls | undefined
    const calls = new GivenCalls((id) => (earlier ??= this.#earlierCalls()).has(id), sources)
    if (this.#result === undefined) readCalls(listOf(outputMessages(this.#given.output)), calls)
    else this.#result.readCalls(calls)
    return calls.infos
  }

  #earlierCalls(): GivenCalls {
    const calls = new GivenCalls()
    readCalls(listOf(inputMessages(this.#given.input)), calls)
    return calls
  }

  #answers(): readonly Message[] {
    this.#messages ??= this.#result?.messages() ?? readMessages(listOf(outputMessages(this.#given.output)), 'assistant')
    return this.#messages
  }

  #read(): { readonly input: readonly Message[]; readonly system: string | undefined } {
    if (this.#conversation !== undefined) return this.#conversation
    const { input } = this.#given
    const source = isRecord(input) && input.role === undefined ? input : NOTHING_KNOWN
    const tagged = isRecord(source.taggedSystemMessages)
      ? Object.values(source.taggedSystemMessages).flatMap(listOf)
      : []
    const system = [...listOf(source.systemMessages), ...tagged, ...listOf(source.system ?? source.instructions)]
    const messages = [
      ...readMessages(system, 'system'),
      ...readMessages([...listOf(source.rememberedMessages), ...listOf(inputMessages(input))], 'user'),
    ]
    const texts = messages.flatMap(({ role, text = '' }) => (role === 'system' && text.trim() !== '' ? [text] : []))
    this.#conversation = {
      input: messages.filter(({ role }) => role !== 'system'),
      system: texts.length > 0 ? texts.join('\n\n') : undefined,
    }
    return this.#conversation
  }
}

const NOTHING_KNOWN: Readonly<Record<string, unknown>> = NOTHING

/** @throws TypeError if the form of the input is unknown, or something was misspelt in it */
export function checkInput(input: unknown): void {
  for (const message of listOf(inputMessages(input))) checkMessage(message)
  if (!isRecord(input) || input.role !== undefined) return
  for (const name of Object.keys(input))
    if (!Object.hasOwn(INPUT_FIELDS, name)) refuseUnknown('input', name, INPUT_FIELDS, 'field')
}

/**
 * Returns an agent's result, which is checked when it is read.
 *
 * @throws TypeError if the output is neither that nor messages, or something was misspelt in it
 */
export function checkOutput(output: unknown): GivenResult | undefined {
  const result = toGivenResult(output)
  if (result !== undefined) return result
  const messages = listOf(outputMessages(output))
  for (const message of messages) checkMessage(message)
  checkAnswerRole(messages)
  return undefined
}

const MESSAGE_FIELDS = {
  inputMessages: true,
  messages: true,
  prompt: true,
  systemMessages: true,
  rememberedMessages: true,
  taggedSystemMessages: true,
} as const
const INPUT_FIELDS = { ...MESSAGE_FIELDS, system: true, instructions: true, tools: true, availableTools: true } as const

/** The messages of an input; `undefined` if it has none. */
export function inputMessages(input: unknown): unknown {
  if (!isRecord(input) || input.role !== undefined) return input
  const messages = input.inputMessages ?? input.messages ?? input.prompt
  const keys = Object.keys(input)
  if (messages === undefined && keys.length > 0 && !keys.some((key) => Object.hasOwn(MESSAGE_FIELDS, key))) {
    const forms = 'a string, messages, { messages }, { prompt } or { inputMessages }'
    throw new TypeError(`Expected input to be ${forms}, got ${formatValue(input)}.`)
  }
  return messages ?? undefined
}

/** The messages of an output. An empty object is not a message. */
export function outputMessages(output: unknown): unknown {
  return isRecord(output) && Object.keys(output).length === 0 ? undefined : output
}

/** The text of the last assistant message that has one. It is empty only if no message has a non-empty string. */
function answerText(messages: readonly Message[]): string | undefined {
  const answers = messages.filter(({ role, text }) => role === 'assistant' && text !== undefined)
  return (answers.findLast(({ text }) => text?.trim() !== '') ?? answers.at(-1))?.text
}

function toUsage(usage: unknown): Usage {
  if (!isRecord(usage)) return {}
  const inputTokens = numberOf(usage.inputTokens ?? usage.promptTokens)
  const outputTokens = numberOf(usage.outputTokens ?? usage.completionTokens)
  return plausibleUsage({
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  })
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

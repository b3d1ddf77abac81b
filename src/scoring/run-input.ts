import { randomUUID } from 'node:crypto'

import type { AgentRun, ModelCall } from '../runs/agent-run.ts'
import { isRecord, numberOf, textOf } from '../spans/json.ts'
import type { Message, ToolDefinition, Usage } from '../spans/message.ts'
import { toToolDefinitions } from '../spans/tool-definitions.ts'
import { GivenCalls } from './given-calls.ts'
import type { GivenCall } from './given-calls.ts'
import { readMessages } from './given-messages.ts'
import { toGivenResult } from './given-result.ts'
import type { GivenInput, ScorerInput } from './scorer.ts'
import { show } from './show.ts'

/** The run that `.run()` scores, and the message form it was made of, if it was. */
export interface RunInput {
  readonly run: AgentRun
  readonly given?: GivenInput
}

/**
 * Makes what `.run()` was given an `AgentRun`: an `AgentRun` as it is, the message form by reading its messages.
 *
 * A run made of messages has the dialect `messages`, no trace (its ids are all zeros, as OpenTelemetry writes "none"), no
 * times and no tokens but those that an agent's result tells of, and is taken to have finished.
 *
 * @throws TypeError where the value is neither
 */
export function toRunInput(value: ScorerInput): RunInput {
  if (isAgentRun(value)) return { run: value }
  const given: unknown = value ?? {}
  if (!isRecord(given)) {
    throw new TypeError(`Expected an AgentRun or { input, output }, got ${show(given)}.`)
  }
  return { run: toAgentRun(given), given: { ...given, input: given.input, output: given.output } }
}

/** Whether the value is a run, made from spans or read back from JSON. */
export function isAgentRun(value: unknown): value is AgentRun {
  return isRecord(value) && 'toolCalls' in value && 'spanId' in value && 'traceId' in value
}

function toAgentRun(given: Record<string, unknown>): AgentRun {
  const inputCalls = new GivenCalls()
  const { conversation, system, availableTools } = readInput(given.input, inputCalls)
  const { messages, calls, usage, steps, status, text } = readOutput(given.output, inputCalls)
  const userInput = conversation.findLast(({ role }) => role === 'user')?.text
  const output = text ?? answerText(messages)
  return {
    id: textOf(given.runId) ?? randomUUID(),
    traceId: '0'.repeat(32),
    spanId: '0'.repeat(16),
    dialect: 'messages',
    agent: {},
    ...(system !== undefined && { systemInstructions: system }),
    input: conversation,
    ...(userInput !== undefined && { userInput }),
    ...(output !== undefined && { output }),
    toolCalls: calls,
    ...(availableTools !== undefined && { availableTools }),
    steps,
    children: [],
    models: [],
    usage,
    status,
    startTimeMs: 0,
    endTimeMs: 0,
    content: 'full',
    missing: [],
    complete: true,
    revision: 1,
    attributes: {},
    resource: {},
    scope: { name: 'spanscore' },
  }
}

interface ReadInput {
  readonly conversation: readonly Message[]
  readonly system?: string
  readonly availableTools?: readonly ToolDefinition[]
}

function readInput(input: unknown, calls: GivenCalls): ReadInput {
  const source = isRecord(input) && input.role === undefined ? input : {}
  const messages = [
    ...readMessages(listOf(source.systemMessages), 'system', calls),
    ...(isRecord(source.taggedSystemMessages)
      ? Object.values(source.taggedSystemMessages).flatMap((tagged) => readMessages(listOf(tagged), 'system', calls))
      : []),
    ...readMessages(listOf(source.system ?? source.instructions), 'system', calls),
    ...readMessages(listOf(source.rememberedMessages), 'user', calls),
    ...readMessages(listOf(inputMessages(input)), 'user', calls),
  ]
  const system = messages.flatMap(({ role, text }) => (role === 'system' && text !== undefined ? [text] : []))
  const availableTools = toToolDefinitions(source.tools ?? source.availableTools)
  return {
    conversation: messages.filter(({ role }) => role !== 'system'),
    ...(system.length > 0 && { system: system.join('\n\n') }),
    ...(availableTools !== undefined && { availableTools }),
  }
}

function inputMessages(input: unknown): unknown {
  if (!isRecord(input) || input.role !== undefined) return input
  const messages = input.inputMessages ?? input.messages ?? input.prompt
  if (messages === undefined && input.systemMessages === undefined && input.rememberedMessages === undefined) {
    if (Object.keys(input).length === 0) return undefined
    const keys = 'a string, messages, { messages }, { prompt } or { inputMessages }'
    throw new TypeError(`Expected input to be ${keys}, got ${show(input)}.`)
  }
  return messages
}

interface ReadOutput {
  readonly messages: readonly Message[]
  readonly calls: readonly GivenCall[]
  readonly steps: readonly ModelCall[]
  readonly usage: Usage
  readonly status: AgentRun['status']
  readonly text?: string
}

function readOutput(output: unknown, inputCalls: GivenCalls): ReadOutput {
  const calls = new GivenCalls(inputCalls)
  const result = toGivenResult(output)
  const messages = result === undefined ? readMessages(listOf(output), 'assistant', calls) : result.read(calls)
  const assistant = messages.filter(({ role }) => role === 'assistant')
  return {
    messages,
    calls: calls.list,
    steps: assistant.map((message, step) => ({
      output: [message],
      toolCallIds: calls.list.flatMap((call) => (call.step === step && call.id !== undefined ? [call.id] : [])),
      usage: {},
      finishReasons: [],
      status: 'ok',
    })),
    usage: toUsage(result?.usage),
    status: result?.finishReason === 'error' ? 'error' : 'ok',
    ...(result?.text !== undefined && { text: result.text }),
  }
}

/** The text of the last assistant message that has any; an empty text only where no message has more. */
function answerText(messages: readonly Message[]): string | undefined {
  const answers = messages.filter(({ role, text }) => role === 'assistant' && text !== undefined)
  return (answers.findLast(({ text }) => text?.trim() !== '') ?? answers.at(-1))?.text
}

function toUsage(usage: unknown): Usage {
  if (!isRecord(usage)) return {}
  const inputTokens = numberOf(usage.inputTokens ?? usage.promptTokens)
  const outputTokens = numberOf(usage.outputTokens ?? usage.completionTokens)
  return { ...(inputTokens !== undefined && { inputTokens }), ...(outputTokens !== undefined && { outputTokens }) }
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

import { isRecord, textOf } from '../../spans/json.ts'
import type { Message } from '../../model/message.ts'
import { makeMessage } from '../../spans/content/messages.ts'
import type { GivenCalls } from './calls.ts'
import { isCall, readCalls, readMessages, readPartCalls, readParts } from './messages.ts'

/** The parts of an agent's return value that scorers use. */
export interface GivenResult {
  readonly text?: string
  readonly usage: unknown
  readonly finishReason: unknown
  /** Its messages, one for each step. */
  messages(): Message[]
  /** Adds its tool calls to `calls`. */
  readCalls(calls: GivenCalls): void
}

/**
 * The result of an AI SDK or Mastra agent (`generateText`, `agent.generate`): `text`, with `steps` or `response.messages` for
 * its tool calls. `undefined` if the value is another form of output.
 *
 * @throws TypeError if it is a stream's result, whose fields are promises
 */
export function toGivenResult(output: unknown): GivenResult | undefined {
  if (!isRecord(output) || output.role !== undefined) return undefined
  refusePromise(output)
  const response = isRecord(output.response) ? output.response : {}
  if (![output.steps, response.messages, output.toolCalls].some(Array.isArray)) return undefined
  const steps = Array.isArray(output.steps) ? output.steps.filter(isRecord) : []
  const messages: readonly unknown[] = Array.isArray(response.messages) ? response.messages : []
  const text = textOf(output.text) ?? textOf(JSON.stringify(output.object)) ?? (output.text === '' ? '' : undefined)
  return {
    ...(text !== undefined && { text }),
    usage: output.totalUsage ?? output.usage,
    finishReason: output.finishReason,
    messages: () => {
      if (steps.length > 0) return steps.map(toMessage)
      return messages.length > 0 ? readMessages(messages, 'assistant') : [toMessage(output)]
    },
    readCalls: (calls) => {
      for (const [index, step] of steps.entries()) {
        readPartCalls(contentOf(step), calls, { messageIndex: index, step: index, invocations: 0 })
      }
      // These repeat the calls of the steps. Repeated ids count once.
      readCalls(messages, calls)
      // If there are steps, these calls repeat those of the last step and may lack ids. Read them only if no call was found yet.
      if (calls.infos.length === 0) {
        readPartCalls(contentOf(output), calls, { messageIndex: 0, step: 0, invocations: 0 })
      }
    },
  }
}

/** @throws TypeError if the output is a promise, or a stream's result, whose fields are promises */
export function refusePromise(output: unknown): void {
  if (output instanceof Promise || (isRecord(output) && output.text instanceof Promise)) {
    throw new TypeError(
      'Expected output to be an answer, got a promise: await it (of a stream: its text and steps) first.',
    )
  }
}

function toMessage(step: Record<string, unknown>): Message {
  const parts = readParts(contentOf(step))
  const text = textOf(step.text)
  if (text !== undefined && !parts.some(({ type }) => type === 'text')) parts.unshift({ type: 'text', content: text })
  return makeMessage('assistant', parts)
}

/** A step has its calls in its content, in separate lists, or in both. */
function contentOf(step: Record<string, unknown>): readonly unknown[] {
  const content: readonly unknown[] = Array.isArray(step.content) ? step.content : []
  if (content.some((part) => isRecord(part) && isCall(part.type))) return content
  return [...content, ...listed(step.toolCalls, 'tool-call'), ...listed(step.toolResults, 'tool-result')]
}

/** Entries of these lists may lack a `type`, so it is added. */
function listed(list: unknown, type: string): readonly unknown[] {
  return Array.isArray(list) ? list.filter(isRecord).map((entry) => ({ ...entry, type })) : []
}

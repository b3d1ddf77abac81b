import { isRecord, textOf } from '../spans/json.ts'
import type { Message } from '../spans/message.ts'
import { makeMessage } from '../spans/messages.ts'
import type { GivenCalls } from './given-calls.ts'
import { readMessages, readParts } from './given-messages.ts'

/** What an agent returned, as far as it is read. */
export interface GivenResult {
  readonly text?: string
  readonly usage: unknown
  readonly finishReason: unknown
  /** Its messages, one for each step; their tool calls go to `calls`. */
  read(calls: GivenCalls): Message[]
}

/**
 * The result of an AI SDK or Mastra agent (`generateText`, `agent.generate`): `text`, with `steps` or `response.messages` for
 * its tool calls. `undefined` where the value is another form of output.
 *
 * @throws TypeError where it is a stream's result, whose fields are promises
 */
export function toGivenResult(output: unknown): GivenResult | undefined {
  if (!isRecord(output) || output.role !== undefined) return undefined
  if (output instanceof Promise || output.text instanceof Promise) {
    throw new TypeError(
      'Expected output to be an answer, got a promise: await it (of a stream: its text and steps) first.',
    )
  }
  const { steps } = output
  const response = isRecord(output.response) ? output.response : {}
  if (!Array.isArray(steps) && !Array.isArray(response.messages)) return undefined
  const text = textOf(output.text) ?? textOf(JSON.stringify(output.object)) ?? blank(output.text)
  return {
    ...(text !== undefined && { text }),
    usage: output.totalUsage ?? output.usage,
    finishReason: output.finishReason,
    read: (calls) => [
      ...(Array.isArray(steps) ? steps.filter(isRecord).map((step, index) => readStep(step, index, calls)) : []),
      // The same calls again where there are steps: they count once.
      ...readMessages(Array.isArray(response.messages) ? response.messages : [], 'assistant', calls).filter(
        () => !Array.isArray(steps) || steps.length === 0,
      ),
    ],
  }
}

function readStep(step: Record<string, unknown>, index: number, calls: GivenCalls): Message {
  const place = { messageIndex: index, step: index, invocations: 0 }
  const lists = Array.isArray(step.content) ? [step.content] : [step.toolCalls, step.toolResults]
  const parts = readParts(lists.filter((list) => Array.isArray(list)).flat(), calls, place)
  const text = textOf(step.text)
  if (text !== undefined && !parts.some(({ type }) => type === 'text')) parts.unshift({ type: 'text', content: text })
  return makeMessage('assistant', parts)
}

function blank(text: unknown): string | undefined {
  return text === '' ? '' : undefined
}

import type { Message } from '../../model/message.ts'
import { comparisonKey } from '../comparison-key.ts'
import { inputOf, outputOf } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'

/** The ids of the tool calls that messages answer since the last question, in order. Earlier messages are history. */
export function answeredIds(messages: readonly Message[]): readonly string[] {
  const ids: string[] = []
  for (const message of messages.slice(messages.findLastIndex(isQuestion) + 1)) {
    for (const part of message.parts) {
      if (part.type === 'tool_call_response' && part.id !== undefined) ids.push(part.id)
    }
  }
  return ids
}

/** Whether a message is a user's text without any tool results. */
export function isQuestion(message: Message | undefined): boolean {
  return message?.role === 'user' && !message.parts.some((part) => part.type === 'tool_call_response')
}

/**
 * Whether a model call's input repeats an earlier call's input and output. If that output had tool calls, any tool calls at that place are
 * enough: some recorded streams merge the parallel calls of an answer, or omit them.
 */
export function repeats(input: readonly Message[], earlier: TraceSpan): boolean {
  const said = outputOf(earlier)?.at(-1)
  const given = inputOf(earlier) ?? []
  const next = input[given.length]
  const lastGiven = given.at(-1)
  const saidCalls = said === undefined || isSilent(said) ? earlier.outcome.error === undefined : hasCalls(said)
  const isFollowed = next?.role === 'assistant' && (hasCalls(next) || isAnswered(input, given.length))
  if (lastGiven !== undefined && saidCalls && isFollowed) {
    const same = input[given.length - 1]
    if (same !== undefined && messageKey(same) === messageKey(lastGiven)) return true
  }
  if (said === undefined) return false
  const key = messageKey(said)
  const from = input.slice(Math.min(given.length, input.length - 1))
  return from.some((message) => message.role === 'assistant' && messageKey(message) === key)
}

/** Whether the next messages are a model's answer without text, whose calls were not recorded, and a tool's result. */
function isAnswered(input: readonly Message[], at: number): boolean {
  const next = input[at]
  return next !== undefined && isSilent(next) && input[at + 1]?.role === 'tool'
}

/** Whether nothing of the model's answer was recorded. */
function isSilent(message: Message): boolean {
  return !hasCalls(message) && (message.text ?? '') === ''
}

function hasCalls(message: Message): boolean {
  return message.parts.some((part) => part.type === 'tool_call')
}

function messageKey(message: Message): string {
  const calls = message.parts.filter((part) => part.type === 'tool_call')
  return [message.text ?? '', ...calls.flatMap((call) => [call.name, call.arguments])].map(comparisonKey).join()
}

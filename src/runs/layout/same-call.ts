import type { Message } from '../../model/message.ts'
import { lastUserText } from '../view/message-text.ts'
import type { TraceSpan } from '../trace-span.ts'
import type { RunRecord } from './run-records.ts'

/** How far the inner record of a call may extend beyond the outer one. */
export const MAX_BEYOND_MS = 20

/** Whether an agent, ended or open, made all calls of an agentless run that an instrumentation of the model's client recorded. */
export function madeCalls({ root, models }: RunRecord, calls: readonly TraceSpan[]): boolean {
  const [first] = calls
  if (first === undefined || models.length === 0) return false
  const { startTimeMs, endTimeMs } = root.span
  const isBefore = !root.isOpen && endTimeMs + MAX_BEYOND_MS < first.span.startTimeMs
  if (isBefore || startTimeMs > first.span.startTimeMs + MAX_BEYOND_MS) return false
  return calls.every((call) => models.some((other) => isSameCall(call, other)))
}

/**
 * Whether two spans of different instrumentations record the same model call: they have the same response id, or one is within the other in
 * time, and they have the same tool calls or the same question and answer. A framework may assign its own id to a streamed answer.
 */
function isSameCall(call: TraceSpan, other: TraceSpan): boolean {
  if (call.span.scope.name === other.span.scope.name) return false
  const id = call.model?.responseId
  if (id !== undefined && id === other.model?.responseId) return true
  if (!isWithin(call, other) && !isWithin(other, call)) return false
  const ids = callIdsOf(call)
  const otherIds = callIdsOf(other)
  if (ids.length > 0 || otherIds.length > 0) return ids.some((callId) => otherIds.includes(callId))
  const answer = textOf(call.output)
  if (answer === undefined || answer !== textOf(other.output)) return false
  return lastUserText(call.input) === lastUserText(other.input)
}

function isWithin({ span }: TraceSpan, { span: around }: TraceSpan): boolean {
  return span.startTimeMs >= around.startTimeMs - MAX_BEYOND_MS && span.endTimeMs <= around.endTimeMs + MAX_BEYOND_MS
}

function callIdsOf(call: TraceSpan): readonly string[] {
  return call.toolCalls.flatMap(({ id }) => id ?? [])
}

function textOf(output: readonly Message[] | undefined): string | undefined {
  const text = output?.findLast((message) => message.role === 'assistant')?.text
  return text === '' ? undefined : text
}

import { isRecord } from '../../spans/json.ts'
import type { Message, ToolCallPart } from '../../model/message.ts'
import { toolCallsIn } from '../../spans/content/messages.ts'
import { callsOf, inputOf } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'

/**
 * The tool calls that each model of a run requested. If the record of an answer is broken (some instrumentations merge the parallel calls
 * of a stream), the next model's input, which repeats the answer, is used instead. Without that either, the spans of the tools that ran are
 * more reliable, and the broken calls are dropped.
 */
export function askedCalls(
  models: readonly TraceSpan[],
  tools: readonly TraceSpan[],
): readonly (readonly ToolCallPart[])[] {
  let ranNames: ReadonlySet<string | undefined> | undefined
  return models.map((model, step) => {
    const calls = callsOf(model)
    // Some instrumentations only record calls in the input of the next model.
    if (calls.length === 0) return step === models.length - 1 ? calls : repeatedCalls(models, step)
    const whole = calls.some(hasNoArguments) ? repeatedCalls(models, step) : []
    if (whole.length === calls.length && whole.every((call, index) => call.id === calls[index]?.id)) return whole
    // Without ids and tool spans, results can only be matched by the ids in that repetition.
    const lacksIds = tools.length === 0 && calls.some((call) => call.id === undefined)
    if (!lacksIds && !calls.some(isBroken)) return calls
    ranNames ??= new Set(tools.map((tool) => tool.tool?.name))
    const names = ranNames
    const repeated = repeatedCalls(models, step)
    if (repeated.length > 0) return repeated
    return tools.length === 0 ? calls : calls.filter((call) => !isBroken(call) && names.has(call.name))
  })
}

/** Whether arguments start like JSON but are not valid. */
function isBroken(call: ToolCallPart): boolean {
  return typeof call.arguments === 'string' && /^\s*[{[]/.test(call.arguments)
}

/** Some libraries write this for calls without arguments, and some for streams, whose arguments arrive later. */
function hasNoArguments({ id, arguments: given }: ToolCallPart): boolean {
  return id !== undefined && isRecord(given) && Object.keys(given).length === 0
}

/** The calls that the next model's input adds to this one's, if it continues it. */
function repeatedCalls(models: readonly TraceSpan[], step: number): readonly ToolCallPart[] {
  const [call, next] = [models[step], models[step + 1]]
  const before = (call && inputOf(call)) ?? []
  const after = (next && inputOf(next)) ?? []
  const last = before.at(-1)
  const same = after[before.length - 1]
  const goesOn = last !== undefined && last.role === same?.role && last.text === same.text
  return goesOn ? toolCallsIn(after.slice(before.length)) : []
}

/**
 * The calls in a transcript, by the assistant message that made them, for libraries that list a run's messages on the agent's span and have
 * no usable model spans.
 */
export function transcriptCalls(transcript: readonly Message[] | undefined): readonly (readonly ToolCallPart[])[] {
  // LangGraph repeats the message of a hand-off.
  const seen = new Set<string>()
  const isNew = ({ id }: ToolCallPart): boolean => id === undefined || (!seen.has(id) && seen.add(id).has(id))
  return ownTurns(transcript).flatMap((message) => {
    if (message.role !== 'assistant') return []
    const calls = toolCallsIn([message])
    const fresh = calls.filter(isNew)
    return calls.length > 0 && fresh.length === 0 ? [] : [fresh]
  })
}

/** The messages of a transcript that this run added to its input. */
export function ownTurns(transcript: readonly Message[] | undefined): readonly Message[] {
  if (transcript === undefined) return []
  const question = transcript.findLastIndex((message) => message.role === 'user' && message.text !== undefined)
  return transcript.slice(question + 1)
}

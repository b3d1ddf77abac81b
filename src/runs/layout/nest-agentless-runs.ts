import { isRecord, parseJson } from '../../spans/json.ts'
import type { Message, ToolCallPart } from '../../model/message.ts'
import { askedCalls, transcriptCalls } from '../view/asked-calls.ts'
import { responsesIn } from '../view/join-tool-calls.ts'
import type { RunPlan } from './run-layout.ts'
import { inputOf, isFlat, outputOf } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'

/**
 * Nests runs below the tool call that started them if their parents do not show it: agentless model calls, and libraries that write spans
 * side by side. The question is among the call's arguments, the answer is in its result, and the run took place during the call.
 */
export function nestAgentlessRuns(plans: readonly RunPlan[]): readonly RunPlan[] {
  if (plans.length < 2) return plans
  const bare = plans.filter(isLoose)
  if (bare.length < 2) return plans
  const byAnswer = Map.groupBy(bare, answerOf)
  byAnswer.delete(undefined)
  const nested = new Set<RunPlan>()
  for (const outer of bare) {
    for (const call of answeredCalls(outer)) {
      const candidates = stringsIn(call.result).flatMap((text) => byAnswer.get(text) ?? [])
      if (candidates.length === 0) continue
      const asked = new Set(stringsIn(call.arguments))
      const inner = candidates.find(
        (plan) =>
          plan !== outer && !nested.has(plan) && ranDuring(plan, call, outer) && asked.has(questionOf(plan) ?? ''),
      )
      if (inner === undefined) continue
      inner.parent = { plan: outer, tool: call.tool, callId: call.id }
      outer.children.push(inner)
      nested.add(inner)
    }
  }
  return nested.size === 0 ? plans : plans.filter((plan) => !nested.has(plan))
}

/** Whether the parents of a run's spans do not show what started it. */
function isLoose({ root, models }: RunPlan): boolean {
  if (root.role === 'model') return true
  return [root, ...models].some(isFlat)
}

/** A tool call between two model calls of a run. */
interface AnsweredCall {
  readonly id: string
  /** The tool's span, if there is one. */
  readonly tool: TraceSpan | undefined
  readonly arguments: unknown
  readonly result: unknown
  readonly askedMs: number
  readonly answeredMs: number
}

function answeredCalls(plan: RunPlan): readonly AnsweredCall[] {
  const { models, tools, children, root, inside } = plan
  const toolSpans = new Map(tools.map((node) => [node.tool?.id, node]))
  const withChild = new Set(children.map((child) => child.parent?.tool?.tool?.id))
  const answered = (
    calls: readonly ToolCallPart[],
    answers: readonly Message[] | undefined,
    askedMs: number,
    answeredMs: number,
  ): readonly AnsweredCall[] => {
    const results = new Map(responsesIn(answers).map((part) => [part.id, part.response]))
    return calls.flatMap(({ id, arguments: given }) => {
      if (id === undefined || withChild.has(id) || !results.has(id)) return []
      return [{ id, tool: toolSpans.get(id), arguments: given, result: results.get(id), askedMs, answeredMs }]
    })
  }
  const transcript = [root, ...inside].find((node) => node.transcript !== undefined)?.transcript
  if (transcript !== undefined) {
    const calls = transcriptCalls(transcript).flat()
    return answered(calls, transcript, root.span.startTimeMs, root.span.endTimeMs)
  }
  const asked = askedCalls(models, tools)
  return models.flatMap((node, step) => {
    const next = models[step + 1]
    const calls = asked[step] ?? []
    if (next === undefined || calls.length === 0) return []
    return answered(calls, inputOf(next), node.span.startTimeMs, next.span.startTimeMs)
  })
}

/** Compares start times only: the span of a stream may end after the work that it triggered has begun. */
function ranDuring({ root, models }: RunPlan, call: AnsweredCall, outer: RunPlan): boolean {
  const last = models.at(-1) ?? root
  const isTogether =
    root.span.traceId === outer.root.span.traceId ||
    (root.span.parentSpanId === undefined && outer.root.span.parentSpanId === undefined)
  return isTogether && root.span.startTimeMs >= call.askedMs && last.span.startTimeMs <= call.answeredMs
}

function questionOf({ root }: RunPlan): string | undefined {
  return root.input?.findLast((message) => message.role === 'user' && message.text !== undefined)?.text
}

function answerOf({ models }: RunPlan): string | undefined {
  const last = models.at(-1)
  return (last && outputOf(last))?.findLast(isWords)?.text
}

function isWords(message: Message): boolean {
  return message.role === 'assistant' && message.text !== undefined && message.text !== ''
}

/** Maximum number of texts of a value, and the depth to which they are searched. */
const MAX_STRINGS = 50
const MAX_DEPTH = 4

/** The texts in arguments or a result: the value itself, or the strings in an object. */
function stringsIn(value: unknown): readonly string[] {
  const found: string[] = typeof value === 'string' ? [value] : []
  const look = (part: unknown, depth: number): void => {
    if (found.length >= MAX_STRINGS || depth > MAX_DEPTH) return
    if (typeof part === 'string') found.push(part)
    else if (Array.isArray(part)) for (const item of part) look(item, depth + 1)
    else if (isRecord(part)) for (const item of Object.values(part)) look(item, depth + 1)
  }
  look(parseJson(value), 0)
  return found
}

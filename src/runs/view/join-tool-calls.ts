import type { Message, ToolCallPart, ToolCallResponsePart } from '../../model/message.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import { comparisonKey } from '../comparison-key.ts'
import type { TraceSpan } from '../trace-span.ts'
import { isFailed } from './run-ending.ts'

/** One tool call: as requested by the model, as executed, or both. */
export interface JoinedCall {
  /** The model's request; `undefined` if only the execution was recorded. */
  readonly asked: ToolCallPart | undefined
  readonly tool: TraceSpan | undefined
  /** The index of the model call that requested it. */
  readonly step: number
  /** The model call that requested it, or else the span of its execution. It is below the agent that made the call. */
  readonly by: TraceSpan | undefined
}

interface Draft {
  asked: ToolCallPart | undefined
  tool: TraceSpan | undefined
  step: number
  by: TraceSpan | undefined
}

/**
 * Tool calls in the model's order. Requests are joined to tool spans by id, then by name and arguments, then by name and order. Spans
 * without a recorded request follow the calls of the model call before them; those without a name are left out.
 *
 * @param askedBy the calls that each model requested, by index of the model (or of the turn in a transcript)
 */
export function joinToolCalls(
  models: readonly TraceSpan[],
  tools: readonly TraceSpan[],
  askedBy: readonly (readonly ToolCallPart[])[],
): readonly JoinedCall[] {
  const drafts: Draft[] = []
  for (const [step, calls] of askedBy.entries()) {
    const by = models[step]
    for (const asked of calls) drafts.push({ asked, tool: undefined, step, by })
  }
  let left = tools
  for (const join of [joinById, joinByArguments, joinInOrder, joinBySpanName, joinByBareName]) {
    if (left.length === 0) return drafts
    left = join(left, drafts)
  }
  const retried = left.some((tool) => isFailed(tool.outcome)) ? joinedByName(drafts) : NOTHING
  const attempts = new Map<Draft, TraceSpan[]>()
  for (const tool of left) {
    // Nothing shows which tool it was.
    if (nameOf(tool) === undefined) continue
    const step = lastBefore(models, tool.span)
    const later = laterCallOf(tool, retried.get(keyOf(step, nameOf(tool))))
    if (later === undefined) drafts.push({ asked: undefined, tool, step, by: tool })
    else attempts.set(later, [...(attempts.get(later) ?? []), tool])
  }
  const all = attempts.size === 0 ? drafts : drafts.flatMap((draft) => withAttempts(draft, attempts.get(draft)))
  // The sort is stable: it keeps the model's own order, and calls known only from spans come after it.
  const sorted = all.toSorted((one, other) => one.step - other.step)
  // A tool that ran before any model call counts with the first one.
  for (const draft of sorted) draft.step = Math.max(0, draft.step)
  return sorted
}

function joinById(tools: readonly TraceSpan[], drafts: readonly Draft[]): readonly TraceSpan[] {
  const byId = new Map<string, Draft[]>()
  for (const draft of drafts) {
    const id = draft.asked?.id
    if (id === undefined) continue
    const list = byId.get(id)
    if (list === undefined) byId.set(id, [draft])
    else list.push(draft)
  }
  return tools.filter((tool) => {
    const id = idOf(tool)
    const draft = id === undefined ? undefined : byId.get(id)?.shift()
    if (draft !== undefined) draft.tool = tool
    return draft === undefined
  })
}

/** The id of the call, from the outer span or an inner one. */
export function idOf(tool: TraceSpan): string | undefined {
  return tool.tool?.id ?? tool.inner.find((node) => node.tool?.id !== undefined)?.tool?.id
}

/** The name of the tool, from the outer span or an inner one; `undefined` if it is not recorded. */
export function nameOf(tool: TraceSpan): string | undefined {
  return tool.tool?.name ?? tool.inner.find((node) => node.tool !== undefined)?.tool?.name
}

/** Only used if several calls or spans share a name: arguments need not be read to join one to one. */
function joinByArguments(tools: readonly TraceSpan[], drafts: readonly Draft[]): readonly TraceSpan[] {
  const spansOf = Map.groupBy(tools, (tool) => tool.tool?.name)
  const callsOf = Map.groupBy(freeDrafts(drafts), (draft) => draft.asked?.name)
  const joined = new Set<TraceSpan>()
  for (const [name, spans] of spansOf) {
    // A span without a tool name may belong to any call.
    const calls = name === undefined ? freeDrafts(drafts) : (callsOf.get(name) ?? [])
    if (calls.length === 0 || (calls.length === 1 && spans.length === 1 && name !== undefined)) continue
    const byArguments = Map.groupBy(calls, (draft) => comparisonKey(draft.asked?.arguments))
    for (const tool of spans) {
      const draft = byArguments.get(comparisonKey(tool.toolArguments))?.shift()
      if (draft === undefined) continue
      draft.tool = tool
      joined.add(tool)
    }
  }
  return joined.size === 0 ? tools : tools.filter((tool) => !joined.has(tool))
}

/** Joins by name and order; hand-offs by order alone, because libraries name their spans differently from the model's call. */
function joinInOrder(tools: readonly TraceSpan[], drafts: readonly Draft[]): readonly TraceSpan[] {
  const free = Map.groupBy(freeDrafts(drafts), (draft) => draft.asked?.name)
  const left = tools.filter((tool) => {
    const draft = free.get(tool.tool?.name)?.shift()
    if (draft !== undefined) draft.tool = tool
    return draft === undefined
  })
  if (!left.some(({ role }) => role === 'handoff')) return left
  const handoffs = freeDrafts(drafts)
    .filter((draft) => isHandoff(draft.asked?.name))
    .values()
  return left.filter((tool) => {
    if (tool.role !== 'handoff') return true
    const draft = handoffs.next().value
    if (draft !== undefined) draft.tool = tool
    return draft === undefined
  })
}

/** Joins spans without a tool name to calls of the tool after which the span is named: `search`, `execute_tool search`. */
function joinBySpanName(tools: readonly TraceSpan[], drafts: readonly Draft[]): readonly TraceSpan[] {
  if (!tools.some((tool) => nameOf(tool) === undefined)) return tools
  const free = Map.groupBy(freeDrafts(drafts), (draft) => draft.asked?.name)
  return tools.filter((tool) => {
    if (nameOf(tool) !== undefined) return true
    const { name } = tool.span
    const bare = name.slice(0, MAX_NAME).replace(/^(?:execute_tool|call_tool|run_tool|tool|function)[ :./]+/i, '')
    const draft = (free.get(name) ?? free.get(bare))?.shift()
    if (draft !== undefined) draft.tool = tool
    return draft === undefined
  })
}

/** Joins a tool whose name has a prefix of its server or group, or lacks that of the call: `Tool: search`, `files__search`, `search`. */
function joinByBareName(tools: readonly TraceSpan[], drafts: readonly Draft[]): readonly TraceSpan[] {
  const free = Map.groupBy(freeDrafts(drafts), (draft) => bareName(draft.asked?.name))
  return tools.filter((tool) => {
    const name = nameOf(tool)
    const [draft, ...others] = free.get(bareName(name)) ?? []
    if (name === undefined || draft?.asked === undefined || others.length > 0 || draft.tool !== undefined) return true
    // One of them has no prefix: those of two servers are two tools.
    if (bareName(name) !== name && bareName(draft.asked.name) !== draft.asked.name) return true
    draft.tool = tool
    return false
  })
}

/** What follows the last prefix. */
function bareName(name: string | undefined): string | undefined {
  return name
    ?.slice(0, MAX_NAME)
    .split(/__|[:./]\s?/)
    .at(-1)
}

const NOTHING: ReadonlyMap<string, readonly Draft[]> = new Map()

function keyOf(step: number, name: string | undefined): string {
  return `${step} ${name}`
}

/** The calls whose tools ran, by step and name, in the order of their starts. */
function joinedByName(drafts: readonly Draft[]): ReadonlyMap<string, readonly Draft[]> {
  const ran = drafts.filter(({ tool }) => tool !== undefined).toSorted((one, other) => startOf(one) - startOf(other))
  return Map.groupBy(ran, ({ step, tool }) => keyOf(step, tool && nameOf(tool)))
}

function startOf({ tool }: Draft): number {
  return tool?.span.startTimeMs ?? 0
}

/** The call of which a failed tool was an attempt, which the library repeated by itself: the first of its name that began after it. */
function laterCallOf(tool: TraceSpan, calls: readonly Draft[] = []): Draft | undefined {
  if (calls.length === 0 || idOf(tool) !== undefined || !isFailed(tool.outcome)) return undefined
  let [from, to] = [0, calls.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const call = calls[middle]
    if (call !== undefined && startOf(call) < tool.span.endTimeMs) from = middle + 1
    else to = middle
  }
  return calls[from]
}

/** An attempt has the arguments of the call that it became; the result with its id is not that of the attempt. */
function withAttempts(draft: Draft, attempts: readonly TraceSpan[] = []): readonly Draft[] {
  return [
    ...attempts.map((tool): Draft => {
      const { id: _, ...asked } = draft.asked ?? { type: 'tool_call', name: nameOf(tool) ?? '' }
      return { asked, tool, step: draft.step, by: draft.by ?? tool }
    }),
    draft,
  ]
}

/** No tool has a longer name. */
const MAX_NAME = 300

function freeDrafts(drafts: readonly Draft[]): readonly Draft[] {
  return drafts.filter((draft) => draft.tool === undefined)
}

/** Whether a tool hands over to another agent, by the names that libraries give such tools. */
export function isHandoff(name: string | undefined): boolean {
  return name !== undefined && /^(transfer|hand_?off)/i.test(name)
}

/** The last model call before a tool. If both start in the same millisecond, the tool is later if it ends later. */
function lastBefore(models: readonly TraceSpan[], tool: SourceSpan): number {
  let low = 0
  let high = models.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((models[middle]?.span.startTimeMs ?? 0) <= tool.startTimeMs) low = middle + 1
    else high = middle
  }
  let last = low - 1
  for (; last > 0; last--) {
    const model = models[last]?.span
    if (model === undefined || model.startTimeMs < tool.startTimeMs || model.endTimeMs <= tool.endTimeMs) break
  }
  return last
}

/** The results of tool calls in messages, in order. */
export function responsesIn(messages: readonly Message[] | undefined): readonly ToolCallResponsePart[] {
  const responses: ToolCallResponsePart[] = []
  for (const message of messages ?? []) {
    for (const part of message.parts) if (part.type === 'tool_call_response') responses.push(part)
  }
  return responses
}

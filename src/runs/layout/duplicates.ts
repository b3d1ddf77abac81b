import { AgentsAtWork } from './agents-at-work.ts'
import type { TraceSpan } from '../trace-span.ts'
import type { RunPlan } from './run-layout.ts'

/**
 * Takes away runs that another instrumentation records, too, at the top and below every tool call: AI SDK 7 with its new
 * and its legacy telemetry both on writes each run twice, at the top in two traces; an instrumented client below a framework
 * that does not hand its context on leaves bare model calls beside the framework's run. The ids of the model's responses
 * show it; where there are none, because the first call failed, agent, question and time do.
 */
export function dropDuplicateRuns(plans: readonly RunPlan[]): readonly RunPlan[] {
  const kept = plans.length > 1 ? withoutDuplicates(plans) : plans
  const waiting = [...kept]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    if (plan.children.length > 1) {
      const children = withoutDuplicates(plan.children)
      if (children.length < plan.children.length) plan.children.splice(0, plan.children.length, ...children)
    }
    waiting.push(...plan.children)
  }
  return kept
}

function withoutDuplicates(plans: readonly RunPlan[]): readonly RunPlan[] {
  const older = plans.filter(isOlderForm)
  const newer = older.length === 0 ? [] : plans.filter(isNewerForm)
  const agentless = plans.filter(isAgentless)
  const agents =
    agentless.length === 0 || agentless.length === plans.length ? [] : plans.filter((plan) => !isAgentless(plan))
  const duplicates = new Map<RunPlan, RunPlan>()
  if (newer.length > 0) {
    const bySecond = Map.groupBy(newer, secondOf)
    const indices = new Map([...bySecond].map(([second, ofSecond]) => [second, indexByResponse(ofSecond)]))
    for (const plan of older) {
      const ids = responseIds(plan)
      const near = [0, -1, 1].flatMap((offset) => indices.get(secondOf(plan) + offset) ?? [])
      const other =
        ids.length > 0
          ? near.map((index) => recordedBy(ids, index)).find((found) => found !== undefined && isOneCall(found, plan))
          : recordedAtTheTime(plan, bySecond)
      if (other !== undefined) duplicates.set(plan, other)
    }
  }
  if (agents.length > 0) {
    const byTrace = Map.groupBy(agents, (plan) => plan.root.span.traceId)
    const indices = new Map([...byTrace].map(([traceId, ofTrace]) => [traceId, indexByResponse(ofTrace)]))
    const atWork = new AgentsAtWork(agents, MAX_APART_MS)
    for (const plan of agentless) {
      const index = indices.get(plan.root.span.traceId)
      const other = (index && recordedBy(responseIds(plan), index)) ?? atWork.callerOf(plan)
      if (other !== undefined) duplicates.set(plan, other)
    }
  }
  for (const [duplicate, other] of duplicatesOfClients(agentless)) duplicates.set(duplicate, other)
  for (const [duplicate, other] of duplicates) handOver(duplicate.children, other)
  return duplicates.size === 0 ? plans : plans.filter((plan) => !duplicates.has(plan))
}

/** Runs of a client's own spans, in a trace of their own, whose calls an instrumentation of the client records, too. */
function duplicatesOfClients(agentless: readonly RunPlan[]): readonly (readonly [RunPlan, RunPlan])[] {
  const [ofClients = [], others = []] = [true, false].map((isOfClient) =>
    agentless.filter((plan) => (plan.root.dialect.isOfClient === true) === isOfClient),
  )
  if (ofClients.length === 0 || others.length === 0) return []
  const bySecond = Map.groupBy(others, secondOf)
  const indices = new Map([...bySecond].map(([second, ofSecond]) => [second, indexByResponse(ofSecond)]))
  return ofClients.flatMap((plan) => {
    const ids = responseIds(plan)
    if (ids.length === 0) return []
    const near = [0, -1, 1].flatMap((offset) => indices.get(secondOf(plan) + offset) ?? [])
    const other = near.map((index) => recordedBy(ids, index)).find((found) => found !== undefined)
    return other === undefined ? [] : [[plan, other] as const]
  })
}

/** What a tool of the duplicate started, the same call's tool started: below which of the two spans it hangs is chance. */
function handOver(children: readonly RunPlan[], other: RunPlan): void {
  for (const child of children) {
    const id = child.parent?.tool?.tool?.id
    const tool = other.tools.find((node) => id !== undefined && node.tool?.id === id)
    child.parent = { plan: other, tool }
    other.children.push(child)
  }
}

/** A library's older form, which it may write beside its newer one. */
function isOlderForm(plan: RunPlan): boolean {
  return plan.root.dialect.formOfTwo === 'older'
}

function isNewerForm(plan: RunPlan): boolean {
  return plan.root.dialect.formOfTwo === 'newer'
}

function isAgentless(plan: RunPlan): boolean {
  return plan.root.role === 'model'
}

/** The same agent, begun at the same moment: the ids of a server in a test repeat. */
function isOneCall({ root }: RunPlan, other: RunPlan): boolean {
  const apartMs = Math.abs(root.span.startTimeMs - other.root.span.startTimeMs)
  return apartMs <= 5 * MAX_APART_MS && root.agent?.name === other.root.agent?.name
}

/** By which current runs are found: two records of one call begin within a moment. */
function secondOf(plan: RunPlan): number {
  return Math.floor(plan.root.span.startTimeMs / 1000)
}

function responseIds(plan: RunPlan): readonly string[] {
  return plan.models.flatMap((model) => model.model?.responseId ?? [])
}

function indexByResponse(plans: readonly RunPlan[]): ReadonlyMap<string, RunPlan> {
  return new Map(plans.flatMap((plan) => responseIds(plan).map((id) => [id, plan] as const)))
}

function recordedBy(ids: readonly string[], index: ReadonlyMap<string, RunPlan>): RunPlan | undefined {
  const other = index.get(ids[0] ?? '')
  return ids.every((id) => index.get(id) === other) ? other : undefined
}

/** How far the two records of one call may lie apart. */
const MAX_APART_MS = 20

/** How many that begin at about the same time are compared with one another. */
const MAX_COMPARED = 256

function recordedAtTheTime(plan: RunPlan, bySecond: ReadonlyMap<number, readonly RunPlan[]>): RunPlan | undefined {
  const { span, agent, input } = plan.root
  const near = [0, -1, 1].flatMap((offset) => bySecond.get(secondOf(plan) + offset)?.slice(0, MAX_COMPARED) ?? [])
  return near.find(
    (other) =>
      Math.abs(other.root.span.startTimeMs - span.startTimeMs) <= MAX_APART_MS &&
      Math.abs(other.root.span.endTimeMs - span.endTimeMs) <= MAX_APART_MS &&
      (responseIds(other).length === 0 || shareACall(plan, other)) &&
      other.root.agent?.name === agent?.name &&
      other.root.input?.at(-1)?.text === input?.at(-1)?.text,
  )
}

/** Whether tools of both ran for a call of one id: of a stream that was aborted, only one form may name the response. */
function shareACall(plan: RunPlan, other: RunPlan): boolean {
  return plan.tools.some(({ tool }) => tool?.id !== undefined && other.tools.some((node) => node.tool?.id === tool.id))
}

/**
 * Puts the second record of a model call inside the first, as it would be if the libraries had known of each other: an
 * instrumentation and the client's own telemetry write side by side where the stream of an answer has left the context in
 * which it was asked for. The one that holds the words is the outer.
 */
export function nestDuplicateCalls(nodes: readonly TraceSpan[]): void {
  const calls = nodes.filter((node) => node.role === 'model')
  const first = calls[0]?.span.scope.name
  if (calls.every((node) => node.span.scope.name === first)) return
  const taken = new Set<TraceSpan>()
  for (const [at, call] of calls.entries()) {
    if (taken.has(call)) continue
    // Nodes come by start.
    for (let next = at + 1; next < calls.length && next - at <= MAX_COMPARED; next++) {
      const other = calls[next]
      if (other === undefined || other.span.startTimeMs - call.span.startTimeMs > MAX_APART_MS) break
      if (taken.has(other) || !isDuplicateCall(call, other)) continue
      const [outer, inner] = call.input === undefined ? [other, call] : [call, other]
      inner.parent = outer
      taken.add(call).add(other)
      break
    }
  }
}

function isDuplicateCall(call: TraceSpan, other: TraceSpan): boolean {
  return (
    call.topId === other.topId &&
    call.parent === other.parent &&
    call.span.scope.name !== other.span.scope.name &&
    Math.abs(call.span.endTimeMs - other.span.endTimeMs) <= MAX_APART_MS &&
    call.model?.model !== undefined &&
    call.model.model === other.model?.model
  )
}

import { AgentsAtWork } from './agents-at-work.ts'
import type { TraceSpan } from '../trace-span.ts'
import type { RunPlan } from './run-layout.ts'
import { inheritIds } from './record-ids.ts'
import { MAX_APART_MS, RunRecords, signsOf } from './run-records.ts'

/**
 * Removes runs that another instrumentation also records, at the top and below every tool call. AI SDK 7 with both its new and its legacy
 * telemetry writes each run twice, at the top in two traces. An instrumented client below a framework that does not propagate its context
 * leaves model calls without an agent beside the framework's run. Duplicates have the same response ids, or, if the first call failed and
 * there are none, the same agent, question and time.
 *
 * @param known those of the runs that are final, so that no other record of them counts
 * @param onDuplicate called with each run at the top that is removed
 */
export function dropDuplicateRuns(
  plans: readonly RunPlan[],
  known: readonly RunPlan[] = [],
  onDuplicate?: (plan: RunPlan) => void,
): readonly RunPlan[] {
  const kept = plans.length > 1 ? withoutDuplicates(plans, { runs: 0 }, new Set(known)) : plans
  if (kept.length < plans.length && onDuplicate !== undefined) {
    const all = new Set(kept)
    for (const plan of plans) if (!all.has(plan)) onDuplicate(plan)
  }
  for (const plan of kept) dropDuplicatesBelow(plan)
  return kept
}

function dropDuplicatesBelow(top: RunPlan): void {
  const compared = { runs: 0 }
  const waiting = [top]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    if (plan.children.length > 1 && compared.runs < MAX_NESTED) {
      const children = withoutDuplicates(plan.children, compared)
      if (children.length < plan.children.length) plan.children.splice(0, plan.children.length, ...children)
    }
    waiting.push(...plan.children)
  }
}

/** @param compared how many runs were compared so far */
function withoutDuplicates(
  plans: readonly RunPlan[],
  compared: { runs: number },
  known?: ReadonlySet<RunPlan>,
): readonly RunPlan[] {
  const duplicates = new Map<RunPlan, RunPlan>()
  const agentless = plans.filter(isAgentless)
  if (agentless.length > 0 && agentless.length < plans.length) {
    const agents = withChildren(plans.filter((plan) => !isAgentless(plan)))
    compared.runs += agents.length
    const byTrace = Map.groupBy(agents, (plan) => plan.root.span.traceId)
    const indices = new Map([...byTrace].map(([traceId, ofTrace]) => [traceId, indexByResponse(ofTrace)]))
    const atWork = new AgentsAtWork(agents)
    for (const plan of agentless) {
      const index = indices.get(plan.root.span.traceId)
      const other = (index && recordedBy(responseIds(plan), index)) ?? atWork.callerOf(plan)
      if (other !== undefined) duplicates.set(plan, other)
    }
  }
  for (const [duplicate, other] of secondRecords(plans)) duplicates.set(duplicate, other)
  for (const [duplicate, other] of Array.from(duplicates)) {
    if (known?.has(duplicate) !== true || known.has(other)) continue
    duplicates.delete(duplicate)
    duplicates.set(other, duplicate)
  }
  for (const [duplicate, other] of duplicates) {
    inheritIds(other.root, duplicate)
    handOver(duplicate.children, other)
  }
  return duplicates.size === 0 ? plans : plans.filter((plan) => !duplicates.has(plan))
}

/** Pairs runs in a library's older format with those in its newer one, and runs of a client's own spans with an instrumentation's. */
function secondRecords(plans: readonly RunPlan[]): readonly (readonly [RunPlan, RunPlan])[] {
  const second = plans.filter(isOlderForm).concat(plans.filter(isOfClient))
  if (second.length === 0) return []
  const first = new RunRecords<RunPlan>()
  for (const plan of plans) if (!isOlderForm(plan) && !isOfClient(plan)) first.add(signsOf(plan), plan)
  return second.flatMap((plan) => {
    const other = first.find(signsOf(plan))
    return other === undefined ? [] : [[plan, other] as const]
  })
}

function withChildren(plans: readonly RunPlan[]): readonly RunPlan[] {
  const found: RunPlan[] = []
  const waiting = [...plans]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    found.push(plan)
    waiting.push(...plan.children)
  }
  return found
}

/** Moves the runs that the duplicate's tools started to the same calls of the other run: either span may be their parent. */
function handOver(children: readonly RunPlan[], other: RunPlan): void {
  for (const child of children) {
    const id = child.parent?.tool?.tool?.id
    const tool = other.tools.find((node) => id !== undefined && node.tool?.id === id)
    child.parent = { plan: other, tool }
    other.children.push(child)
  }
}

/** Whether this is a library's older format, which it may write beside its newer one. */
function isOlderForm(plan: RunPlan): boolean {
  return plan.root.dialect.quirks?.formOfTwo === 'older'
}

function isOfClient({ root }: RunPlan): boolean {
  return root.role === 'model' && root.dialect.quirks?.isOfClient === true
}

function isAgentless(plan: RunPlan): boolean {
  return plan.root.role === 'model'
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

/** After this many comparisons below one run, its further runs stay as they are: each may be nested in thousands of others. */
const MAX_NESTED = 10_000

/** Maximum number of runs with a similar start time that are compared. */
const MAX_COMPARED = 256

/**
 * Nests the second record of a model call inside the first. An instrumentation and the client's own telemetry write them side by side if
 * the stream of an answer loses the context of its request. The one with content becomes the outer one.
 */
export function nestDuplicateCalls(nodes: readonly TraceSpan[]): void {
  const calls = nodes.filter((node) => node.role === 'model')
  const first = calls[0]?.span.scope.name
  if (calls.every((node) => node.span.scope.name === first)) return
  const taken = new Set<TraceSpan>()
  for (const [at, call] of calls.entries()) {
    if (taken.has(call)) continue
    // Nodes are ordered by start.
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

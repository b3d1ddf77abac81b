import { answeredIds, Continuity, isQuestion } from './continuity.ts'
import { newPlan, type RunPlan } from './run-layout.ts'
import { callsOf, inputOf } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { compareSpans } from './tree.ts'

/** A model or tool span without an agent above it, or without one between it and the tool that it runs in. */
export interface AgentlessSpan {
  readonly span: TraceSpan
  readonly kind: 'model' | 'tool'
  /** The run of the tool that it runs in. */
  readonly plan: RunPlan | undefined
  readonly tool: TraceSpan | undefined
  /** Whether the span of its agent is lost, or never ended. */
  readonly lacksAgent?: boolean
}

/** Model calls that continue one another. */
interface Chain {
  readonly plan: RunPlan
  readonly place: TraceSpan | undefined
  last: TraceSpan
  hasCallIds: boolean
}

/** Maximum number of recent runs in one place whose messages are compared. Comparisons by id have no limit. */
const MAX_COMPARED = 32

/**
 * Builds runs from model calls without an agent. A call that continues an earlier one belongs to the same run: it answers that call's tool
 * calls by id, or else repeats its messages and adds no new question. Any other call starts a run. Tool spans join the run that requested
 * them; those whose parent was lost may also join a run that
 * asked for their id. Returns the new top-level runs; runs below a tool become children.
 */
export function chainAgentlessSpans(bare: readonly AgentlessSpan[], plans: readonly RunPlan[]): readonly RunPlan[] {
  if (bare.length === 0) return []
  const models = sorted(bare, 'model')
  const tools = sorted(bare, 'tool')
  const chains = chainModels(models)
  const owners = attachTools(tools, chains, plans)
  const tops: RunPlan[] = []
  for (const { plan, place } of chains) {
    const owner = place && owners.get(place)
    if (plan.parent === undefined && owner !== undefined) plan.parent = { plan: owner, tool: place }
    if (plan.parent === undefined) tops.push(plan)
    else plan.parent.plan.children.push(plan)
  }
  return tops
}

function sortTools(plan: RunPlan): void {
  plan.tools.sort((left, right) => compareSpans(left.span, right.span))
}

function sorted(bare: readonly AgentlessSpan[], kind: AgentlessSpan['kind']): readonly AgentlessSpan[] {
  return bare
    .filter((item) => item.kind === kind)
    .toSorted((left, right) => compareSpans(left.span.span, right.span.span))
}

function chainModels(models: readonly AgentlessSpan[]): readonly Chain[] {
  const chains: Chain[] = []
  const byPlace = new Map<TraceSpan | undefined, Chain[]>()
  const byCallId = new Map<string, Chain>()
  const continuity = new Continuity()
  for (const { span: node, plan, tool, lacksAgent } of models) {
    if (node.isOpen) continue
    const latest = byPlace.get(tool) ?? []
    byPlace.set(tool, latest)
    let chain = findChain(node, tool, { latest, byCallId, continuity })
    if (chain === undefined) {
      const parent = plan === undefined ? undefined : { plan, tool }
      chain = { plan: newPlan(node, parent), place: tool, last: node, hasCallIds: false }
      chains.push(chain)
      latest.push(chain)
      if (latest.length > MAX_COMPARED) latest.shift()
    }
    if (lacksAgent === true) chain.plan.isComplete = false
    chain.plan.models.push(node)
    chain.last = node
    for (const call of callsOf(node)) {
      if (call.id === undefined) continue
      byCallId.set(call.id, chain)
      chain.hasCallIds = true
    }
  }
  return chains
}

/** Earlier calls that a call may continue. */
interface Earlier {
  /** The latest ones in its place. */
  readonly latest: readonly Chain[]
  readonly byCallId: ReadonlyMap<string, Chain>
  readonly continuity: Continuity
}

function findChain(
  node: TraceSpan,
  place: TraceSpan | undefined,
  { latest, byCallId, continuity }: Earlier,
): Chain | undefined {
  const input = inputOf(node)
  if (input === undefined) return latest.findLast((chain) => continuesUnseen(chain.last, node))
  const answered = answeredIds(input)
  for (const id of answered.toReversed()) {
    const chain = byCallId.get(id)
    if (chain !== undefined && chain.place === place) return chain
  }
  if (isQuestion(input.at(-1))) return undefined
  // Both sides have ids, but they do not match: it is another conversation.
  return latest.findLast((chain) => !(chain.hasCallIds && answered.length > 0) && continuity.repeats(input, chain.last))
}

/** Without content: the next call of the same parent after one that ended with tool calls. */
function continuesUnseen(last: TraceSpan, node: TraceSpan): boolean {
  const finished = last.model?.finishReasons ?? []
  return (
    last.topId === node.topId &&
    last.span.traceId === node.span.traceId &&
    last.span.endTimeMs <= node.span.startTimeMs + 1 &&
    finished.some((reason) => /tool/i.test(reason))
  )
}

function attachTools(
  tools: readonly AgentlessSpan[],
  chains: readonly Chain[],
  plans: readonly RunPlan[],
): ReadonlyMap<TraceSpan, RunPlan> {
  const owners = new Map<TraceSpan, RunPlan>()
  const places = Map.groupBy(chains, (chain) => chain.place)
  const indices = new Map<TraceSpan | undefined, CallIndex>()
  const ofTrace = tools.some((item) => item.span.isOrphan) ? new CallIndex(plans) : undefined
  const touched = new Set<RunPlan>()
  for (const item of tools) {
    const { span: node, tool: place } = item
    let index = indices.get(place)
    if (index === undefined) {
      index = new CallIndex((places.get(place) ?? []).map((chain) => chain.plan))
      indices.set(place, index)
    }
    const own = index.askedBy(node) ?? index.nearest(node)
    if (own !== undefined) {
      own.tools.push(node)
      owners.set(node, own)
      continue
    }
    if (!node.isOrphan || place !== undefined) continue
    const asking = ofTrace?.askedById(node)
    if (asking === undefined) continue
    asking.tools.push(node)
    asking.isComplete = false
    touched.add(asking)
    owners.set(node, asking)
  }
  for (const plan of touched) sortTools(plan)
  return owners
}

/** Finds the run that requested a tool call. */
class CallIndex {
  readonly #byId = new Map<string, RunPlan>()
  /** `undefined` if several runs requested a tool of that name. */
  readonly #byName = new Map<string, RunPlan | undefined>()
  readonly #byParent = new Map<string, { startMs: number; plan: RunPlan }[]>()
  readonly #byModel = new Map<TraceSpan, RunPlan>()
  /** The run of the nearest model call above a span, if there is one, for spans that were passed on the way to it. */
  readonly #around = new Map<TraceSpan, RunPlan | undefined>()

  constructor(plans: readonly RunPlan[]) {
    for (const plan of plans) {
      for (const node of plan.models) {
        this.#byModel.set(node, plan)
        for (const call of callsOf(node)) {
          if (call.id !== undefined) this.#byId.set(call.id, plan)
          const other = this.#byName.has(call.name) ? this.#byName.get(call.name) : plan
          this.#byName.set(call.name, other === plan ? plan : undefined)
        }
        const list = this.#byParent.get(node.topId)
        const entry = { startMs: node.span.startTimeMs, plan }
        if (list === undefined) this.#byParent.set(node.topId, [entry])
        else list.push(entry)
      }
    }
    for (const list of this.#byParent.values()) list.sort((left, right) => left.startMs - right.startMs)
  }

  /** The run that requested this call: by id, or else the only one that requested a tool of this name. */
  askedBy(node: TraceSpan): RunPlan | undefined {
    const { tool } = node
    return tool === undefined ? undefined : (this.askedById(node) ?? this.#byName.get(tool.name))
  }

  /** The run that asked for this call by its id. */
  askedById({ tool }: TraceSpan): RunPlan | undefined {
    return tool?.id === undefined ? undefined : this.#byId.get(tool.id)
  }

  /** The run of the model call that the tool ran inside; else the run with the latest preceding call under the same parent. */
  nearest(node: TraceSpan): RunPlan | undefined {
    const around = this.#runAround(node)
    if (around !== undefined) return around
    const list = this.#byParent.get(node.topId) ?? []
    let low = 0
    let high = list.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((list[middle]?.startMs ?? 0) <= node.span.startTimeMs) low = middle + 1
      else high = middle
    }
    return list[low - 1]?.plan
  }

  /** The run of the model call around a span. */
  #runAround(node: TraceSpan): RunPlan | undefined {
    const passed = [node]
    let found: RunPlan | undefined
    for (let above = node.parent; above !== undefined; above = above.parent) {
      found = this.#byModel.get(above) ?? this.#around.get(above)
      if (found !== undefined || this.#around.has(above) || above.role === 'tool' || above.role === 'agent') break
      passed.push(above)
    }
    for (const each of passed) this.#around.set(each, found)
    return found
  }
}

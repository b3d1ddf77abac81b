import { chainBareSpans, type BareSpan } from './agentless-chats.ts'
import { newPlan, type PlannedModel, type PlannedTool, type RunPlan } from './run-layout.ts'
import type { TreeSpan } from './tree.ts'

/** Where a span stands: what is above it. */
interface Place {
  readonly plan?: RunPlan
  readonly model?: PlannedModel | undefined
  readonly tool?: PlannedTool
  /** A tool with no run around it. */
  readonly bareTool?: TreeSpan
  readonly isExcluded?: boolean
}

/** What stands below the spans of a trace, by their index, without what is below a tool for agents. */
interface Below {
  readonly agents: readonly boolean[]
  readonly work: readonly boolean[]
}

/** What the spans of a trace make up. */
export interface TracePlan {
  readonly plans: readonly RunPlan[]
  /** Spans without a parent of a library that writes spans side by side, which no run of the trace has a claim to. */
  readonly loose: readonly TreeSpan[]
}

/**
 * Decides which spans of a trace make up which run: where runs begin, which are children of a tool call, which spans are
 * one call seen twice, and what to do with model calls that no agent stands above.
 *
 * @param nodes Parents before children, siblings by start.
 */
export function planRuns(nodes: readonly TreeSpan[]): TracePlan {
  const planner = new Planner(findBelow(nodes))
  const places: Place[] = []
  for (const node of nodes) {
    const above = (node.parent && places[node.parent.index]) ?? NOWHERE
    places[node.index] = above.isExcluded === true ? above : planner.place(node, above)
  }
  const plans = [...planner.plans, ...chainBareSpans(planner.bare, planner.plans)]
  return { plans, loose: plans.length === 0 ? nodes.filter(isLoose) : [] }
}

function isLoose({ facts, span, isOpen }: TreeSpan): boolean {
  const isPart = facts.role === 'tool' || facts.role === 'step'
  return isPart && !isOpen && span.parentSpanId === undefined && facts.dialect.isFlat?.(span) === true
}

const NOWHERE: Place = {}

/** How many of the latest model calls under one span may be going on when a client's own span of one of them begins. */
const MAX_AT_ONCE = 64

class Planner {
  readonly plans: RunPlan[] = []
  readonly bare: BareSpan[] = []
  readonly #below: Below
  /** By what is above them, the latest model calls, for spans of the same call beside them. */
  readonly #latest = new Map<string, PlannedModel[]>()

  constructor(below: Below) {
    this.#below = below
  }

  /** Puts a span into its run, and says what its children have above them. */
  place(node: TreeSpan, above: Place): Place {
    if (node.isOpen && above.plan !== undefined) above.plan.isComplete = false
    switch (node.facts.role) {
      case 'agent':
        return this.#placeAgent(node, above)
      case 'entry':
        return this.#placeEntry(node, above)
      case 'model':
        return this.#placeModel(node, above)
      case 'tool':
      case 'handoff':
        return this.#placeTool(node, above)
      case 'step':
        return placeStep(node, above)
      case 'evaluator':
        return { isExcluded: true }
      default:
        return above
    }
  }

  #placeAgent(node: TreeSpan, above: Place): Place {
    if (above.plan !== undefined && above.tool === undefined) {
      above.plan.inside.push(node)
      // ADK starts the agent that a model hands over to inside that model's span.
      return withoutModel(above)
    }
    const parent = above.plan === undefined ? undefined : { plan: above.plan, tool: above.tool?.node }
    const plan = newPlan(node, parent)
    const siblings = above.plan === undefined ? this.plans : above.plan.children
    siblings.push(plan)
    return { plan }
  }

  /**
   * The outermost entry, in the trace or below a tool, is the agent where models or tools are below and no agent is, or
   * where it holds the agents below as one run. Inside a run it is a step, or the tool that a model asked for by its name.
   */
  #placeEntry(node: TreeSpan, above: Place): Place {
    const { facts } = node
    if (above.plan !== undefined && above.tool === undefined) {
      const name = facts.dialect.tool === undefined ? undefined : facts.tool?.name
      return name !== undefined && wasAskedFor(name, above.plan) ? this.#placeTool(node, above) : placeStep(node, above)
    }
    const isAgent =
      this.#below.work[node.index] === true && (this.#below.agents[node.index] !== true || facts.holdsOneRun)
    return isAgent ? this.#placeAgent(node, above) : above
  }

  #placeModel(node: TreeSpan, above: Place): Place {
    if (above.model !== undefined) {
      if (!node.isOpen) above.model.inner.push(node)
      return above
    }
    const seen = this.#seenBeside(node)
    if (seen !== undefined) {
      seen.inner.push(node)
      return { ...above, model: seen }
    }
    if (above.plan !== undefined && above.tool === undefined) {
      const model = { node, inner: [] }
      this.#remember(model)
      if (!node.isOpen) above.plan.models.push(model)
      return { ...above, model }
    }
    // A model call that an agent makes is seen by that agent.
    if (this.#below.agents[node.index] === true) return above
    const inner: TreeSpan[] = []
    this.bare.push({ node, kind: 'model', plan: above.plan, tool: above.tool?.node ?? above.bareTool, inner })
    this.#remember({ node, inner })
    // Below it, another model span is the same call, and a tool span one that it asked for.
    return { ...above, model: { node, inner } }
  }

  /**
   * The call that a client's own span tells of once more, where the instrumentation around the client does not make its
   * span the parent: begun before under the same span, still going on, and answered by the same response.
   */
  #seenBeside(node: TreeSpan): PlannedModel | undefined {
    if (node.isOpen || node.facts.dialect.isOfClient !== true) return undefined
    const responseId = node.facts.model?.responseId
    return this.#latest.get(node.topId)?.findLast(({ node: other }) => {
      if (other.isOpen || other.facts.dialect.isOfClient === true) return false
      const { startTimeMs, endTimeMs } = other.span
      const isAround = startTimeMs <= node.span.startTimeMs && endTimeMs >= node.span.startTimeMs
      return isAround && other.parent === node.parent && other.facts.model?.responseId === responseId
    })
  }

  #remember(model: PlannedModel): void {
    const { topId } = model.node
    const latest = this.#latest.get(topId)
    if (latest === undefined) this.#latest.set(topId, [model])
    else if (latest.push(model) > MAX_AT_ONCE) latest.shift()
  }

  #placeTool(node: TreeSpan, above: Place): Place {
    if (above.plan !== undefined && above.tool === undefined) {
      const tool = { node, inner: [] }
      if (!node.isOpen) above.plan.tools.push(tool)
      return { ...withoutModel(above), tool }
    }
    if (above.tool !== undefined && isSameTool(above.tool.node, node)) {
      if (!node.isOpen) above.tool.inner.push(node)
      return above
    }
    const outer = above.tool?.node ?? above.bareTool
    if (!node.isOpen) this.bare.push({ node, kind: 'tool', plan: above.plan, tool: outer, inner: [] })
    return above.tool === undefined ? { ...withoutModel(above), bareTool: outer ?? node } : above
  }
}

function placeStep(node: TreeSpan, above: Place): Place {
  if (above.tool === undefined) above.plan?.inside.push(node)
  return above
}

function withoutModel(above: Place): Place {
  return above.model === undefined ? above : { ...above, model: undefined }
}

function isSameTool(outer: TreeSpan, inner: TreeSpan): boolean {
  const name = inner.facts.tool?.name
  return name !== undefined && name === outer.facts.tool?.name
}

/** Whether the latest model call of the run asked for a tool of this name. */
function wasAskedFor(name: string, plan: RunPlan): boolean {
  return plan.models.at(-1)?.node.facts.toolCalls.some((call) => call.name === name) === true
}

function findBelow(nodes: readonly TreeSpan[]): Below {
  const agents = nodes.map(() => false)
  const work = nodes.map(() => false)
  // Children before parents.
  for (let index = nodes.length - 1; index >= 0; index--) {
    const node = nodes[index]
    if (node?.parent === undefined) continue
    const { role } = node.facts
    if (role === 'evaluator') continue
    const above = node.parent.index
    const isTool = role === 'tool' || role === 'handoff'
    const isAgent = role === 'agent' || (role === 'entry' && work[index] === true && node.facts.holdsOneRun)
    if (isAgent || (agents[index] === true && !isTool)) agents[above] = true
    if (isTool || isAgent || role === 'model' || work[index] === true) work[above] = true
  }
  return { agents, work }
}

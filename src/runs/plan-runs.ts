import { chainBareSpans, type BareSpan } from './bare-chats.ts'
import { newPlan, type PlannedModel, type PlannedTool, type RunPlan } from './plan.ts'
import type { TreeSpan } from './tree.ts'

/** Where a span stands: what its children see above them. */
interface Place {
  readonly plan?: RunPlan
  readonly agent?: TreeSpan
  readonly model?: PlannedModel
  readonly tool?: PlannedTool
  /** A tool with no run around it. */
  readonly bareTool?: TreeSpan
  readonly isExcluded?: boolean
}

/**
 * Decides which spans of a trace make up which run: where runs begin, which are children of a tool call, which spans are
 * one call seen twice, and what to do with model calls that no agent stands above.
 */
export function planRuns(nodes: readonly TreeSpan[]): readonly RunPlan[] {
  const isAgent = findAgents(nodes)
  const plans: RunPlan[] = []
  const bare: BareSpan[] = []
  const places = new Map<TreeSpan, Place>()
  for (const node of nodes) {
    const above = (node.parent && places.get(node.parent)) ?? {}
    places.set(node, above.isExcluded === true ? above : place(node, above, isAgent, plans, bare))
  }
  for (const plan of chainBareSpans(bare, plans)) plans.push(plan)
  return plans
}

function place(
  node: TreeSpan,
  above: Place,
  isAgent: ReadonlySet<TreeSpan>,
  plans: RunPlan[],
  bare: BareSpan[],
): Place {
  const { plan } = above
  if (node.isOpen && plan !== undefined) plan.isComplete = false
  if (isAgent.has(node)) return placeAgent(node, above, plans)
  switch (node.facts.role) {
    case 'evaluator':
      return { isExcluded: true }
    case 'model':
      return placeModel(node, above, bare)
    case 'tool':
    case 'handoff':
      return placeTool(node, above, bare)
    case 'agent':
    case 'entry':
    case 'step':
      if (plan !== undefined && above.tool === undefined) plan.steps.push(node)
      // A step that names its agent speaks for all below it.
      if (plan !== undefined && above.tool === undefined && node.facts.agent?.name !== undefined) {
        plan.participants.push(node)
        return { ...above, agent: node }
      }
      return above
    default:
      return above
  }
}

function placeAgent(node: TreeSpan, above: Place, plans: RunPlan[]): Place {
  if (above.plan === undefined || above.tool !== undefined) {
    const parent = above.plan === undefined ? undefined : { plan: above.plan, tool: above.tool?.node }
    const plan = newPlan(node, parent)
    if (above.plan === undefined) plans.push(plan)
    else above.plan.children.push(plan)
    return { plan, agent: node }
  }
  above.plan.participants.push(node)
  return { ...above, agent: node }
}

function placeModel(node: TreeSpan, above: Place, bare: BareSpan[]): Place {
  if (above.model !== undefined) {
    if (!node.isOpen) above.model.inner.push(node)
    return above
  }
  if (above.plan === undefined || above.tool !== undefined) {
    const inner: TreeSpan[] = []
    bare.push({ node, kind: 'model', plan: above.plan, tool: above.tool?.node ?? above.bareTool, inner })
    // Below it, another model span is the same call, and a tool span one that it asked for.
    return { ...above, model: { node, inner, agent: node } }
  }
  const model = { node, inner: [], agent: above.agent ?? above.plan.root }
  if (!node.isOpen) above.plan.models.push(model)
  return { ...above, model }
}

function placeTool(node: TreeSpan, above: Place, bare: BareSpan[]): Place {
  if (above.tool !== undefined || above.plan === undefined) {
    if (above.tool !== undefined && isSameTool(above.tool.node, node)) {
      if (!node.isOpen) above.tool.inner.push(node)
      return above
    }
    const outer = above.tool?.node ?? above.bareTool
    if (!node.isOpen) bare.push({ node, kind: 'tool', plan: above.plan, tool: outer, inner: [] })
    return above.tool === undefined ? { ...withoutModel(above), bareTool: outer ?? node } : above
  }
  const tool = { node, inner: [], agent: above.agent ?? above.plan.root }
  if (!node.isOpen) above.plan.tools.push(tool)
  return { ...withoutModel(above), tool }
}

function withoutModel(above: Place): Place {
  const { model, ...rest } = above
  return model === undefined ? above : rest
}

function isSameTool(outer: TreeSpan, inner: TreeSpan): boolean {
  const name = inner.facts.tool?.name
  return name !== undefined && name === outer.facts.tool?.name
}

/**
 * The spans that are agents: those whose role says so, and of the entries those that turn out to be: the outermost (below
 * a tool: again) with models or tools below and no agent, and those that hold all agents below them as one run.
 */
function findAgents(nodes: readonly TreeSpan[]): ReadonlySet<TreeSpan> {
  const withAgent = new Set<TreeSpan>()
  const withWork = new Set<TreeSpan>()
  const found = new Set<TreeSpan>()
  // Children before parents: what is below.
  for (let index = nodes.length - 1; index >= 0; index--) {
    const node = nodes[index]
    if (node === undefined) continue
    const { role } = node.facts
    if (role === 'evaluator') continue
    if (role === 'agent' || (role === 'entry' && withWork.has(node) && node.facts.holdsOneRun)) found.add(node)
    const isTool = role === 'tool' || role === 'handoff'
    if (node.parent === undefined) continue
    if (found.has(node) || (withAgent.has(node) && !isTool)) withAgent.add(node.parent)
    if (isTool || role === 'model' || found.has(node) || withWork.has(node)) withWork.add(node.parent)
  }
  // Parents before children: what stands around.
  const around = new Set<TreeSpan>()
  for (const node of nodes) {
    const { role } = node.facts
    const isInside = node.parent !== undefined && around.has(node.parent)
    if (role === 'entry' && !isInside && withWork.has(node) && !withAgent.has(node)) found.add(node)
    if (found.has(node) || (isInside && role !== 'tool')) around.add(node)
  }
  return found
}

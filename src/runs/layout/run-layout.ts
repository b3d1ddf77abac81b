import type { TreeSpan } from './tree.ts'

/** Which spans make up one run. Made by `planRuns`, read by `ReconstructedRun`. */
export interface RunPlan {
  /** The agent span; the first model span where no agent stands above the models. */
  readonly root: TreeSpan
  /** In order of start. */
  readonly models: PlannedModel[]
  /** Tool and hand-off spans in order of start. */
  readonly tools: PlannedTool[]
  /** Agents, entries and steps inside the run, in order of start: asked for what root and models do not say. */
  readonly inside: TreeSpan[]
  readonly children: RunPlan[]
  /** The call that started it: by the tool's span, or where there is none by the model's id. */
  parent: { readonly plan: RunPlan; readonly tool: TreeSpan | undefined; readonly callId?: string } | undefined
  /** False where spans of the run are open, or were lost. */
  isComplete: boolean
}

/** A model call, and the spans of the same call that other instrumentations wrote inside. */
export interface PlannedModel {
  readonly node: TreeSpan
  readonly inner: TreeSpan[]
}

/** A tool's execution, and the spans of the same execution seen from inside (MCP client, server). */
export interface PlannedTool {
  readonly node: TreeSpan
  readonly inner: TreeSpan[]
}

/** Makes an empty plan. */
export function newPlan(root: TreeSpan, parent?: RunPlan['parent']): RunPlan {
  return { root, models: [], tools: [], inside: [], children: [], parent, isComplete: !root.isOpen }
}

/**
 * The agent on whose behalf a span of a run worked: the nearest span above that names one (an agent, or a step that says for
 * whom it is), else the run's root.
 */
export function agentOf(node: TreeSpan, root: TreeSpan): TreeSpan {
  for (let above = node.parent; above !== undefined && above !== root; above = above.parent) {
    const { role } = above.facts
    if ((role === 'agent' || role === 'step') && above.facts.agent?.name !== undefined) return above
  }
  return root
}

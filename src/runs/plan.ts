import type { TreeSpan } from './tree.ts'

/** Which spans make up one run. Made by `planRuns`, read by `ReconstructedRun`. */
export interface RunPlan {
  /** The agent span; the first model span where no agent stands above the models. */
  readonly root: TreeSpan
  /** In order of start. */
  readonly models: PlannedModel[]
  /** Tool and hand-off spans in order of start. */
  readonly tools: PlannedTool[]
  /** Agents and named steps that the run's root stands above, in order of start. */
  readonly participants: TreeSpan[]
  /** Steps, in order of start: what stands on them is asked for where agent and models do not say it. */
  readonly steps: TreeSpan[]
  readonly children: RunPlan[]
  parent: { readonly plan: RunPlan; readonly tool: TreeSpan | undefined } | undefined
  /** False where spans of the run are open, or were lost. */
  isComplete: boolean
}

/** A model call, and the spans of the same call that other instrumentations wrote inside. */
export interface PlannedModel {
  readonly node: TreeSpan
  readonly inner: TreeSpan[]
  /** The agent on whose behalf it ran: a participant, or the root. */
  readonly agent: TreeSpan
}

/** A tool's execution, and the spans of the same execution seen from inside (MCP client, server). */
export interface PlannedTool {
  readonly node: TreeSpan
  readonly inner: TreeSpan[]
  readonly agent: TreeSpan
}

/** Makes an empty plan. */
export function newPlan(root: TreeSpan, parent?: RunPlan['parent']): RunPlan {
  return { root, models: [], tools: [], participants: [], steps: [], children: [], parent, isComplete: !root.isOpen }
}

import type { TraceSpan } from '../trace-span.ts'

/** Which spans make up one run. Made by `planRuns`, read by `ReconstructedRun`. */
export interface RunPlan {
  /** The agent span; the first model span where no agent is above the models. */
  readonly root: TraceSpan
  /** Model calls in order of start. Other spans of the same call are `inner` to them. */
  readonly models: TraceSpan[]
  /** Tool and hand-off spans in order of start. Other spans of the same execution (MCP client, server) are `inner` to them. */
  readonly tools: TraceSpan[]
  /** Agents, entries and steps inside the run, in order of start: asked for what root and models do not say. */
  readonly inside: TraceSpan[]
  readonly children: RunPlan[]
  /** The call that started it: by the tool's span, or where there is none by the model's id. */
  parent: { readonly plan: RunPlan; readonly tool: TraceSpan | undefined; readonly callId?: string } | undefined
  /** False where spans of the run are open, or were lost. */
  isComplete: boolean
}

/** Makes an empty plan. */
export function newPlan(root: TraceSpan, parent?: RunPlan['parent']): RunPlan {
  return { root, models: [], tools: [], inside: [], children: [], parent, isComplete: !root.isOpen }
}

/** Says of a run and of all that its tools started that spans of them are not there. */
export function markIncomplete(top: RunPlan): void {
  const waiting = [top]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    plan.isComplete = false
    waiting.push(...plan.children)
  }
}

/**
 * The agent on whose behalf a span of a run worked: the nearest span above that names one (an agent, or a step that says for
 * whom it is), else the run's root.
 */
export function agentOf(span: TraceSpan, root: TraceSpan): TraceSpan {
  for (let above = span.parent; above !== undefined && above !== root; above = above.parent) {
    const { role } = above
    if ((role === 'agent' || role === 'step') && above.agent?.name !== undefined) return above
  }
  return root
}

/** `${traceId}:${spanId}` of the span that the run is named after. */
export function runId(plan: RunPlan): string {
  return `${plan.root.span.traceId}:${plan.root.span.spanId}`
}

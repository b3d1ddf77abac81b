import type { TraceSpan } from '../trace-span.ts'

/** The spans of one run. Created by `planRuns`, and read by `ReconstructedRun`. */
export interface RunPlan {
  /** The agent span; the first model span if there is no agent. */
  readonly root: TraceSpan
  /** Model calls, ordered by start. Other spans of the same call are their `inner`. */
  readonly models: TraceSpan[]
  /** Spans that serve the run without being its loop, ordered by start: guardrails, memory, retrievers, middleware. */
  readonly asides: TraceSpan[]
  /** Model calls below those spans, ordered by start. */
  readonly sideModels: AsideCall[]
  /** Searches and rerankings, ordered by start, also below tools. Those inside another one are its `inner`. */
  readonly retrievals: PlacedRetrieval[]
  /** Tool and hand-off spans, ordered by start. Other spans of the same execution (MCP client, server) are their `inner`. */
  readonly tools: TraceSpan[]
  /** Agents, entries and steps inside the run, ordered by start. They supply facts that root and models lack. */
  readonly inside: TraceSpan[]
  readonly children: RunPlan[]
  /** The tool call that started the run: its tool span, or the call id in the model's output if there is none. */
  parent: { readonly plan: RunPlan; readonly tool: TraceSpan | undefined; readonly callId?: string } | undefined
  /** False if spans of the run are open or were lost. */
  isComplete: boolean
}

/** A model call that served the run, and the span around it that shows it. */
export interface AsideCall {
  readonly model: TraceSpan
  readonly aside: TraceSpan
}

/** A span that may be a retrieval, and the tool that made it. */
export interface PlacedRetrieval {
  readonly span: TraceSpan
  readonly tool: TraceSpan | undefined
}

/** Creates an empty plan. */
export function newPlan(root: TraceSpan, parent?: RunPlan['parent']): RunPlan {
  return {
    root,
    models: [],
    asides: [],
    sideModels: [],
    retrievals: [],
    tools: [],
    inside: [],
    children: [],
    parent,
    isComplete: !root.isOpen && !root.lacksSpans && !root.isAmbiguous,
  }
}

/** Marks a run, and all runs that its tools started, as incomplete. */
export function markIncomplete(top: RunPlan): void {
  const waiting = [top]
  for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
    plan.isComplete = false
    waiting.push(...plan.children)
  }
}

/**
 * The agent that a span of a run worked for: the nearest ancestor that names one (an agent, or a step that names its agent), or else the
 * run's root.
 */
export function agentOf(span: TraceSpan, root: TraceSpan): TraceSpan {
  const named = namedAbove(span)
  if (named === undefined) return root
  // The calls of a run without an agent are beside each other, so that none is above the others.
  if (root.role === 'model') return named
  return named === root || named === namedAbove(root) ? root : named
}

/** What is found is kept for the spans on the way: otherwise each of thousands of nested spans would climb through all above it. */
function namedAbove(span: TraceSpan): TraceSpan | undefined {
  const path = [span]
  let found = span.namedAbove
  for (let above = span.parent; found === undefined; above = above.parent) {
    if (above === undefined || namesAgent(above)) {
      found = { agent: above }
      break
    }
    path.push(above)
    found = above.namedAbove
  }
  for (const each of path) each.namedAbove = found
  return found.agent
}

function namesAgent(span: TraceSpan): boolean {
  const { role } = span
  return (role === 'agent' || role === 'step') && span.agent?.name !== undefined
}

/** `${traceId}:${spanId}` of the span that identifies the run. */
export function runId(plan: RunPlan): string {
  return `${plan.root.span.traceId}:${plan.root.span.spanId}`
}

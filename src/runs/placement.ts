import type { Dialect, SpanRole } from '../spans/dialect.ts'

/**
 * The placement of a span in the runs of its trace:
 *
 * - `run`: the agent of a run that nothing else in the trace started.
 * - `nested`: the agent of a run that a tool of another run started.
 * - `part`: not a run of its own.
 */
export type Placement = 'run' | 'nested' | 'part'

/** The facts about a span's ancestors that affect its placement. */
export interface Above {
  /** Whether it is inside an agent's run. */
  readonly isInRun: boolean
  /** Whether a tool is between that run's agent and the span. */
  readonly isBelowTool: boolean
  /** Whether a span that only serves the run is between that run's agent and the span. */
  readonly isBelowAside: boolean
  /** The dialect of an agent's own span above, with no tool in between, and not only an entry that is the agent of its run. */
  readonly agentAbove: Dialect | undefined
  /** The span of an earlier run that this one goes on with. */
  readonly resumedFrom: string | undefined
  /** Whether an evaluation of runs is above. Nothing below it belongs to a run. */
  readonly isExcluded: boolean
}

/** The facts about a span's descendants, not counting agents below tools. */
export interface Below {
  readonly hasWork: boolean
  readonly hasAgents: boolean
}

/** A span as the placement rule sees it. */
export interface Placed {
  readonly role: SpanRole
  readonly isSingleRun: boolean
  readonly dialect: Dialect
  /** The span of an earlier run that an agent goes on with. */
  readonly resumedFrom: string | undefined
}

/** The ancestors of an outermost span. */
export const OUTSIDE: Above = {
  isInRun: false,
  isBelowTool: false,
  isBelowAside: false,
  agentAbove: undefined,
  resumedFrom: undefined,
  isExcluded: false,
}

const IN_RUN: Above = { ...OUTSIDE, isInRun: true }
const IN_TOOL: Above = { ...IN_RUN, isBelowTool: true }
const IN_ASIDE: Above = { ...IN_RUN, isBelowAside: true }
const EXCLUDED: Above = { ...OUTSIDE, isExcluded: true }

/**
 * The only rule for what starts a run. `buffer/readiness.ts` says when it can be applied although spans are open. The outermost agent starts one. An agent below a tool of another run,
 * or below a span that only serves that run, starts a child run. So does an entry that holds one run, directly below an agent that the same library wrote: a callback
 * started it anew. Below an agent's span of somebody else, such as one by the application around a graph, it is that agent's loop. An agent directly below another agent is part of that agent's run. An `entry` counts as an agent if models or tools
 * are below it and no agent is, or if it holds the agents below as one run.
 */
export function placementOf(span: Placed, above: Above, below: Below): Placement {
  if (above.isExcluded || !mayStartRun(span, below)) return 'part'
  if (!above.isInRun) return 'run'
  const startsAgain = span.dialect === above.agentAbove && span.role === 'entry' && span.isSingleRun
  const isServing = above.isBelowAside && startsBelowAside(span)
  if (above.isBelowTool || isServing || startsAgain) return 'nested'
  return startsAnew(span, above.resumedFrom) ? 'run' : 'part'
}

/** Whether an agent directly below another one goes on with the run of that one, which had ended to wait. */
export function startsAnew(
  { role, resumedFrom }: Pick<Placed, 'role' | 'resumedFrom'>,
  above: string | undefined,
): boolean {
  return role === 'agent' && resumedFrom !== undefined && resumedFrom !== above
}

/** Whether a span starts a run below one that only serves a run. A chain there is a part of it, whose model calls are side calls. */
export function startsBelowAside({ role, isSingleRun }: Pick<Placed, 'role' | 'isSingleRun'>): boolean {
  return role === 'agent' || isSingleRun
}

/** Whether a span starts a run somewhere, by what is below it. */
function mayStartRun(span: Placed, below: Below): boolean {
  if (span.role !== 'entry') return span.role === 'agent'
  return below.hasWork && (!below.hasAgents || span.isSingleRun)
}

/** The ancestors for the children of a span. */
export function aboveChildrenOf(
  { role, dialect, resumedFrom }: Pick<Placed, 'role' | 'dialect'> & { readonly resumedFrom?: string | undefined },
  above: Above,
  placement: Placement,
): Above {
  if (above.isExcluded) return above
  if (role === 'evaluator') return EXCLUDED
  if (role === 'tool' || role === 'handoff') return belowTool(above)
  if (role === 'aside') return above.isInRun ? IN_ASIDE : above
  if (role === 'agent' && placement !== 'part') return { ...IN_RUN, agentAbove: dialect, resumedFrom }
  if (role === 'agent')
    return above.isBelowTool || above.isBelowAside || above.agentAbove !== undefined
      ? above
      : { ...above, agentAbove: dialect }
  return placement === 'part' ? above : IN_RUN
}

/** The ancestors of what is below a tool, or of a span that is somewhere below another one, possibly below a tool. */
export function belowTool(above: Above): Above {
  return above.isExcluded || !above.isInRun ? above : IN_TOOL
}

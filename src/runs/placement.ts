import type { SpanRole } from '../spans/dialect.ts'

/**
 * What a span is to the runs of its trace:
 *
 * - `run`: the agent of a run that nothing else started, as far as the trace shows.
 * - `nested`: the agent of a run that a tool of another run started.
 * - `part`: no run of its own.
 * - `not-yet`: something above it is open of which nobody knows yet what it is. Of spans in a file this never comes out.
 */
export type Placement = 'run' | 'nested' | 'part' | 'not-yet'

/** What is above a span, as far as it matters to its placement. */
export interface Above {
  /** Whether an agent's run is around it. */
  readonly isInRun: boolean
  /** Whether a tool is between that run's agent and the span. */
  readonly isBelowTool: boolean
  /** Whether a span is above, and no agent or tool below that one, which is open and has not said what it is. */
  readonly isBelowUnknown: boolean
  /** Whether an entry is above, and no agent, which is open: it may turn out to be the agent. */
  readonly isBelowOpenEntry: boolean
  /** Whether an evaluation of runs is above: nothing below one is of any run. */
  readonly isExcluded: boolean
}

/** What is below a span, without what is below a tool for agents. */
export interface Below {
  readonly hasWork: boolean
  readonly hasAgents: boolean
}

/** A span as the placement rule sees it. */
export interface Placed {
  readonly role: SpanRole
  readonly holdsOneRun: boolean
}

/** What is above the outermost spans. */
export const OUTSIDE: Above = {
  isInRun: false,
  isBelowTool: false,
  isBelowUnknown: false,
  isBelowOpenEntry: false,
  isExcluded: false,
}

const IN_RUN: Above = { ...OUTSIDE, isInRun: true }
const IN_TOOL: Above = { ...IN_RUN, isBelowTool: true }
const EXCLUDED: Above = { ...OUTSIDE, isExcluded: true }

/**
 * The one rule of what starts a run, for spans that come in a process and for files. The outermost agent does; one below a tool
 * of another run does, as that run's child; one directly below another agent goes on with that one's run. An `entry` counts
 * as an agent where models or tools are below it and no agent is, or where it holds the agents below as one run.
 */
export function placementOf({ role, holdsOneRun }: Placed, above: Above, below: Below): Placement {
  if (above.isExcluded || (role !== 'agent' && role !== 'entry')) return 'part'
  if (role === 'entry' && !(below.hasWork && (!below.hasAgents || holdsOneRun))) return 'part'
  if (above.isBelowUnknown || (role === 'entry' && above.isBelowOpenEntry)) return 'not-yet'
  if (!above.isInRun) return 'run'
  return above.isBelowTool ? 'nested' : 'part'
}

/** What is above the children of a span that has ended, or of which it is known what it will be. */
export function aboveChildrenOf({ role }: Pick<Placed, 'role'>, above: Above, placement: Placement): Above {
  if (above.isExcluded) return above
  if (role === 'evaluator') return EXCLUDED
  if (role === 'tool' || role === 'handoff') {
    if (above.isInRun) return IN_TOOL
    // What the tool starts is nested if the entry around it turns out to be an agent.
    return above.isBelowOpenEntry ? { ...above, isBelowUnknown: true } : above
  }
  // An agent below something unknown begins a run, or is in one: what is below it is in a run either way.
  return placement === 'part' ? above : IN_RUN
}

/** What is above the children of an open span that may turn out to be something else. */
export function aboveChildrenOfOpen(
  span: Placed & { readonly saysItsKind: boolean; readonly below: Below },
  above: Above,
): Above {
  // What works for several agents as one is the agent of their run.
  const isAgent = span.role === 'agent' || (span.role === 'entry' && span.holdsOneRun)
  const placement = isAgent ? placementOf({ role: 'agent', holdsOneRun: false }, above, NOTHING) : 'part'
  const below = aboveChildrenOf(span, above, placement)
  if (isAgent || below.isBelowTool || below.isExcluded) return below
  // An entry with agents below is not their agent.
  const mayBeAgent = span.role === 'entry' && !below.isInRun && !span.below.hasAgents
  const isBelowOpenEntry = below.isBelowOpenEntry || mayBeAgent
  const isBelowUnknown = below.isBelowUnknown || !span.saysItsKind
  return isBelowOpenEntry === below.isBelowOpenEntry && isBelowUnknown === below.isBelowUnknown
    ? below
    : { ...below, isBelowOpenEntry, isBelowUnknown }
}

const NOTHING: Below = { hasWork: false, hasAgents: false }

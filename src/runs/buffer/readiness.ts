import { mayBeNested } from '../layout/lost-parents.ts'
import { startsAnew, startsBelowAside } from '../placement.ts'
import type { LiveSpan, TreeNode } from './tree-node.ts'

/** How many unrecognised spans above one are looked at again. */
const MAX_ASKED = 16
/** How far up a span is looked for that is recognised, or whose run is final. No program nests that many ordinary spans. */
const MAX_CLIMB = 128

/**
 * What an ended span is, as far as the open spans above it let it be known:
 *
 * - `run`: nothing above it can own its run.
 * - `nested`: the agent of a run that a tool of another run started.
 * - `part`: inside another agent's run, or below an evaluation of runs.
 * - `not-yet`: an open span above may turn out to be its agent, or the layout may put it below another one.
 */
export type Readiness = 'run' | 'nested' | 'part' | 'not-yet'

/**
 * The rule of `placement.ts` for a span that has ended, while spans above it are open.
 *
 * @param recognise looks again whether a span above is recognised by now
 * @param options if nested runs do not count, they are parts
 */
export function spanReadiness(
  node: TreeNode,
  span: LiveSpan,
  {
    recognise,
    options,
  }: { readonly recognise: (node: TreeNode) => void; readonly options: { readonly countsNested: boolean } },
): Readiness {
  let isBelowTool = !span.isAgent
  let isServing = false
  let found: Readiness | undefined
  let steps = 0
  let [top, topSpan] = [node, span]
  for (let { above } = node; above !== undefined; above = above.above) {
    steps += 1
    top = above
    if (above.span === undefined && steps <= MAX_ASKED) recognise(above)
    const around = above.span
    if (around === undefined) continue
    topSpan = around
    if (around.isOpen) around.lookAgain()
    const { role } = around
    if (role === 'evaluator') return 'part'
    // Below that agent's tool, only an evaluation around it matters.
    if (found !== undefined) {
      if (steps > MAX_CLIMB) return found
      continue
    }
    if (!around.saidItsKind) return 'not-yet'
    // An entry that has ended may only now get the work that makes it the agent.
    if (role === 'entry' && !around.isOpen) return 'not-yet'
    if (role === 'agent' || (role === 'entry' && around.isSingleRun)) {
      if (!isBelowTool && startsAnew(span, around.resumedFrom)) {
        found = 'run'
        continue
      }
      const startsAgain =
        role === 'agent' && around.dialect === span.dialect && span.role === 'entry' && span.isSingleRun
      if (!options.countsNested || !span.isAgent || !(isBelowTool || startsAgain)) return 'part'
      found = 'nested'
      continue
    }
    // An entry with an agent directly below is never the agent.
    if (role === 'entry' && (isBelowTool || span.role === 'entry')) return 'not-yet'
    // What serves a run starts none, whatever is around it.
    if (role === 'aside' && !startsBelowAside(span)) isServing = true
    else if (role === 'tool' || role === 'handoff' || role === 'aside') isBelowTool ||= !isServing
  }
  if (found !== undefined) return found
  // What is below a lost parent may be put below another agent.
  return top.isLost && mayBeNested(topSpan) ? 'not-yet' : 'run'
}

/** The nearest node above a span that is recognised, or whose run is final. */
export function nearestAbove(node: TreeNode, recognise: (node: TreeNode) => void): TreeNode | undefined {
  let steps = 0
  for (let { above } = node; above !== undefined && steps < MAX_CLIMB; above = above.above) {
    steps += 1
    if (above.isOver) return above
    if (above.span === undefined && steps <= MAX_ASKED) recognise(above)
    if (above.span !== undefined) return above
  }
  return undefined
}

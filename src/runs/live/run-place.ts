import { saysItsKind } from '../../spans/recognition-hints.ts'
import { nearestNode } from './local-span.ts'
import type { SpanNode } from './span-node.ts'

/**
 * Whether it cannot be said yet of which run a span is, because something around it is open of which nobody knows what it
 * is: some instrumentations write a span's kind only when it ends. A tool of another agent's says enough.
 */
export function isUnderUnknown(node: SpanNode): boolean {
  let metUnknown = false
  let metTool = false
  for (let above = nearestNode(node.local.above); above !== undefined; above = nearestNode(above.local.above)) {
    const role = above.currentRole
    if (role === 'evaluator') return false
    if (role === 'tool') metTool = true
    if (role === 'agent') return metUnknown && !metTool
    if (above.open && !saysItsKind(above.span.attributes)) metUnknown = true
  }
  return metUnknown
}

/**
 * Says whether a span that has ended is the agent of a run, by the roles of what stands around it: the outermost
 * agent is; one below a tool call of another is, as a nested run; one directly below another agent continues that one's
 * run; an entry is where no agent stands around it and none was below. `undefined` where it is no run of its own.
 */
export function placeOf(node: SpanNode): 'run' | 'nested' | undefined {
  const { role } = node
  if (role !== 'agent' && role !== 'entry') return undefined
  if (role === 'entry' && (node.group.hasRun || !node.group.hasWork)) return undefined
  let nested = false
  let metAgent = false
  let metTool = false
  for (let above = nearestNode(node.local.above); above !== undefined; above = nearestNode(above.local.above)) {
    const aboveRole = above.currentRole
    if (aboveRole === 'evaluator') return undefined
    if (aboveRole === 'tool') metTool = true
    const isAgent =
      aboveRole === 'agent' || (aboveRole === 'entry' && above.dialect.holdsOneRun?.(above.source) === true)
    if (!isAgent) {
      if (role === 'entry' && aboveRole === 'entry') return undefined
      continue
    }
    if (role === 'entry') return undefined
    if (!metAgent) {
      if (!metTool) return undefined
      nested = true
    }
    metAgent = true
  }
  return nested ? 'nested' : 'run'
}

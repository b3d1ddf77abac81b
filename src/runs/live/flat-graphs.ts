import type { SpanGroup, SpanNode } from './span-node.ts'

/** Whether the library writes the spans of a run side by side, so that parents do not tell where a span belongs. */
export function isFlat({ dialect, source }: SpanNode): boolean {
  return dialect.isFlat?.(source) === true
}

/** Whether a graph of such a library is at work in the group. */
export function hasOpenGraph(group: SpanGroup): boolean {
  return group.nodes.some((node) => node.open && isFlat(node) && node.currentRole === 'agent')
}

/** Whether a graph that has ended may turn out to be part of another one, which began before it and is open. */
export function isAmongOpenGraphs(node: SpanNode): boolean {
  return node.role === 'agent' && isFlat(node) && hasOpenGraph(node.group)
}

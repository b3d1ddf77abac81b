import type { TraceSpan } from '../trace-span.ts'

/** How far the two records of one call may lie apart, at their starts and at their ends. */
const MAX_APART_MS = 20

/**
 * Puts the second record of a model call inside the first, as it would stand if the libraries had seen each other: an
 * instrumentation and the client's own telemetry write side by side where the stream of an answer has left the context in
 * which it was asked for. The one that holds the words is the outer.
 */
export function nestTwinCalls(nodes: readonly TraceSpan[]): void {
  const calls = nodes.filter((node) => node.role === 'model')
  const first = calls[0]?.span.scope.name
  if (calls.every((node) => node.span.scope.name === first)) return
  const taken = new Set<TraceSpan>()
  for (const [at, call] of calls.entries()) {
    if (taken.has(call)) continue
    // Nodes come by start.
    for (let next = at + 1; next < calls.length; next++) {
      const other = calls[next]
      if (other === undefined || other.span.startTimeMs - call.span.startTimeMs > MAX_APART_MS) break
      if (taken.has(other) || !isTwin(call, other)) continue
      const [outer, inner] = call.input === undefined ? [other, call] : [call, other]
      inner.parent = outer
      taken.add(call).add(other)
      break
    }
  }
}

function isTwin(call: TraceSpan, other: TraceSpan): boolean {
  return (
    call.topId === other.topId &&
    call.parent === other.parent &&
    call.span.scope.name !== other.span.scope.name &&
    Math.abs(call.span.endTimeMs - other.span.endTimeMs) <= MAX_APART_MS &&
    call.model?.model !== undefined &&
    call.model.model === other.model?.model
  )
}

import { compareSpans } from '../../src/runs/layout/tree.ts'
import type { SourceSpan } from '../../src/spans/source-span.ts'
import type { Scenario } from './load.ts'

/** Starts, with the attribute keys that are there by then, and ends. */
export type Hooks = NonNullable<Scenario['order']>

/** An order of the hooks that could have been: starts by their times and, where these tie, as in a file; ends as they were exported. */
export function orderOf(spans: readonly SourceSpan[], keysAtStart: 'all' | 'none'): Hooks {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const depth = (span: SourceSpan): number => {
    const parent = byId.get(span.parentSpanId ?? '')
    return parent === undefined ? 0 : depth(parent) + 1
  }
  const waiting = spans.toSorted((a, b) => a.startTimeMs - b.startTimeMs || depth(a) - depth(b) || compareSpans(a, b))
  const started = new Set<string>()
  const order: Hooks[number][] = []
  const start = (span: SourceSpan) => {
    if (started.has(span.spanId)) return
    started.add(span.spanId)
    const parent = byId.get(span.parentSpanId ?? '')
    if (parent) start(parent)
    order.push([span.spanId, 's', keysAtStart === 'all' ? Object.keys(span.attributes) : []])
  }
  for (const span of spans) {
    while (!started.has(span.spanId)) start(waiting.shift() ?? span)
    order.push([span.spanId, 'e'])
  }
  return order
}

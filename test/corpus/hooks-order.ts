import { compareSpans } from '../../src/runs/layout/tree.ts'
import type { SourceSpan } from '../../src/spans/source-span.ts'
import type { Scenario } from './load.ts'

/** The starts of spans, with the attribute keys that exist by then, and their ends. */
export type Hooks = NonNullable<Scenario['order']>

/** A possible order of the hooks: starts by their times and, if these are equal, as in a file; ends in the order of the export. */
export function orderOf(spans: readonly SourceSpan[], keysAtStart: 'all' | 'none'): Hooks {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const waiting = byStart(spans, byId)
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

/** The order of a file, with parents before children that start in the same millisecond. */
function byStart(spans: readonly SourceSpan[], byId: ReadonlyMap<string, SourceSpan>): SourceSpan[] {
  const depth = (span: SourceSpan): number => {
    const parent = byId.get(span.parentSpanId ?? '')
    return parent === undefined ? 0 : depth(parent) + 1
  }
  return spans.toSorted((a, b) => a.startTimeMs - b.startTimeMs || depth(a) - depth(b) || compareSpans(a, b))
}

/**
 * A random possible order of the hooks: parents start before their children, and end after these have started. Spans that
 * start in the same millisecond do so in the order of the file, because the file holds nothing more precise.
 *
 * @param random returns numbers from 0 (included) to 1 (excluded)
 */
export function anyOrderOf(spans: readonly SourceSpan[], random: () => number): Hooks {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const sorted = byStart(spans, byId)
  const children = Map.groupBy(sorted, (span) => span.parentSpanId)
  const waiting = new Set(sorted)
  const open = new Set<SourceSpan>()
  const order: Hooks[number][] = []
  while (waiting.size + open.size > 0) {
    const startedTimes = new Set<number>()
    const mayStart = [...waiting].filter((span) => {
      const parent = byId.get(span.parentSpanId ?? '')
      const isFirst = !startedTimes.has(span.startTimeMs)
      startedTimes.add(span.startTimeMs)
      return isFirst && (parent === undefined || !waiting.has(parent))
    })
    const mayEnd = [...open].filter((span) => !children.get(span.spanId)?.some((child) => waiting.has(child)))
    const at = Math.floor(random() * (mayStart.length + mayEnd.length))
    const starting = mayStart[at]
    const ending = mayEnd[at - mayStart.length]
    if (starting !== undefined) {
      waiting.delete(starting)
      open.add(starting)
      order.push([starting.spanId, 's', Object.keys(starting.attributes)])
    } else if (ending !== undefined) {
      open.delete(ending)
      order.push([ending.spanId, 'e'])
    } else throw new Error('expected a tree: a parent must not be below its child')
  }
  return order
}

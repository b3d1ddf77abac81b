import { expect, test } from 'vitest'

import type { LiveGroup, LiveSpan } from './live-span.ts'
import { SpanGroups } from './span-groups.ts'

/** A group with so many spans. */
function groupOf(groups: SpanGroups, size: number): { readonly group: LiveGroup; readonly spans: readonly LiveSpan[] } {
  const group = groups.open('t', true, 0)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is read of a span
  const spans = Array.from({ length: size }, () => ({ group, isKept: true }) as unknown as LiveSpan)
  for (const span of spans) group.spans.add(span)
  return { group, spans }
}

test.each([1, 2, 5])('a span that is recognised late becomes the outermost one of %d spans below it', (size) => {
  const removed: LiveGroup[] = []
  const groups = new SpanGroups({ retire: () => undefined }, (group) => removed.push(group))
  const below = groupOf(groups, size)
  const [top] = groupOf(groups, 1).spans
  expect.assert(top !== undefined)
  groups.mergeBelow(below.group, top)
  expect(groups.size).toBe(1)
  expect(top.group.top).toBe(top)
  expect(new Set([...below.spans, top].map(({ group }) => group))).toEqual(new Set([top.group]))
  // Moving all of them each time would take quadratic time, if thousands of spans are recognised one after the other.
  expect(top.group === below.group).toBe(size > 1)
  expect(removed).toContain(below.group)
})

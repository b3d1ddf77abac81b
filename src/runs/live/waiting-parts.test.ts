import { expect, test } from 'vitest'

import type { LiveGroup } from './live-span.ts'
import { inParts } from './waiting-parts.ts'

/** A group with so many spans, of which only what is asked of the outermost one is known. */
function groupOf(traceId: string, size: number, role: 'model' | 'tool', parentSpanId?: string): LiveGroup {
  const top = { role, span: { parentSpanId } }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is read of a group
  return { traceId, isFlat: false, top, spans: { size } } as unknown as LiveGroup
}

test('large traces are laid out in lists of at most 2,000 spans, each of them as a whole', () => {
  const groups = Array.from({ length: 900 }, (_, index) => groupOf(`${index % 450}`, 25, 'tool'))
  const parts = inParts(groups)
  expect(new Set(parts.flat())).toEqual(new Set(groups))
  expect(parts.map((part) => part.length * 25).toSorted((one, other) => other - one)[0]).toBe(2000)
  const traces = parts.flatMap((part) => [...new Set(part.map(({ traceId }) => traceId))])
  expect(traces).toHaveLength(450)
})

test('traces with model calls that have no parent are laid out together, because they may continue one another', () => {
  const first = groupOf('a', 1, 'model')
  const beside = groupOf('a', 10, 'tool')
  const below = groupOf('b', 2000, 'model', '0123')
  const second = groupOf('c', 2000, 'model')
  expect(inParts([first, below, beside, second])).toEqual([[first, beside, second], [below]])
})

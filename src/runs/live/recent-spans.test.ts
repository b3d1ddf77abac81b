import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { LocalSpan } from './local-span.ts'
import { RecentSpans } from './recent-spans.ts'

function spanOf(traceId: string, spanId: string): LocalSpan {
  return new LocalSpan(
    {
      name: 'span',
      kind: 0,
      spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
      attributes: {},
      events: [],
      status: { code: 0 },
      startTime: [0, 0],
      endTime: [0, 0],
      resource: { attributes: {} },
    },
    undefined,
  )
}

describe('RecentSpans', () => {
  test('finds each of the latest spans by trace and span id, and none that has fallen out', () => {
    const ids = fc.array(fc.tuple(fc.constantFrom('t1', 't2'), fc.integer({ min: 0, max: 5000 })), { maxLength: 5000 })
    fc.assert(
      fc.property(ids, (added) => {
        const recent = new RecentSpans(2048, 60)
        const spans = added.map(([traceId, id]) => spanOf(traceId, id.toString(16).padStart(16, '0')))
        for (const span of spans) recent.add(span, 0)
        const expected = new Map(spans.slice(-2048).map((span) => [span.context.traceId + span.context.spanId, span]))
        for (const { context } of spans) {
          const found = recent.find(context.traceId, context.spanId, 0)
          expect(found).toBe(expected.get(context.traceId + context.spanId))
        }
        expect(recent.hasForgotten).toBe(spans.length > 2048)
      }),
      { numRuns: 20 },
    )
  })

  test('does not find what began longer ago than the limit', () => {
    const recent = new RecentSpans(1024, 60)
    const span = spanOf('t', 'a')
    recent.add(span, 1000)
    expect(recent.find('t', 'a', 1060)).toBe(span)
    expect(recent.find('t', 'a', 1061)).toBeUndefined()
  })
})

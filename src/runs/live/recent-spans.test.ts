import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { LocalSpan } from './local-span.ts'
import { RecentSpans } from './recent-spans.ts'
import { SpanLinks } from './span-links.ts'

const LIMITS = { maxOrdinary: 2048, maxRecognised: 1024, maxAgeSeconds: 60 }

function id(number: number): string {
  return number.toString(16).padStart(16, '0')
}

function spanOf(traceId: string, spanId: string, above?: LocalSpan, topId = ''): LocalSpan {
  return new LocalSpan({ traceId, spanId }, above, topId, above?.topPosition || (above?.position ?? 0), false, true)
}

describe('RecentSpans', () => {
  test('finds each of the latest spans by trace and span id, and no older one', () => {
    const traces = fc.constantFrom('1'.padStart(32, '0'), '2'.padStart(32, '0'))
    const ids = fc.array(fc.tuple(traces, fc.integer({ min: 0, max: 5000 })), { maxLength: 5000 })
    fc.assert(
      fc.property(ids, fc.constantFrom(1, 7, 1000, 3000, 10_000), (added, lookUpEvery) => {
        const recent = new RecentSpans(LIMITS)
        const spans = added.map(([traceId, number]) => spanOf(traceId, id(number)))
        const latest = spans.map((span, index) => {
          recent.addOrdinary(span, 0)
          return index % lookUpEvery === 0 ? recent.find(span.context, 0) : span
        })
        expect(latest).toEqual(spans)
        const expected = new Map(spans.slice(-2048).map((span) => [span.context.traceId + span.context.spanId, span]))
        for (const { context } of spans) {
          expect(recent.find(context, 0)).toBe(expected.get(context.traceId + context.spanId))
        }
        expect(recent.hasForgotten).toBe(spans.length > 2048)
      }),
      { numRuns: 20 },
    )
  })

  test('does not find what began longer ago than the limit', () => {
    const recent = new RecentSpans(LIMITS)
    const span = spanOf('t', 'a')
    recent.addOrdinary(span, 1000)
    expect(recent.find(span.context, 1060)).toBe(span)
    expect(recent.find(span.context, 1061)).toBeUndefined()
  })

  test('ordinary spans that come later do not push out a recognised one', () => {
    const recent = new RecentSpans(LIMITS)
    const span = spanOf('t', id(1))
    recent.addOrdinary(span, 0)
    recent.addRecognised(span, 0)
    for (let number = 2; number < 5000; number += 1) recent.addOrdinary(spanOf('t', id(number)), 0)
    expect(recent.find(span.context, 0)).toBe(span)
  })

  test('the ancestors of ended spans are found', () => {
    const recent = new RecentSpans(LIMITS)
    const root = spanOf('t', id(1), undefined, 'abcdef0123456789')
    recent.addOrdinary(root, 0)
    const agent = spanOf('t', id(2), root, root.topId)
    recent.addRecognised(agent, 0)
    const tool = spanOf('t', id(3), agent, root.topId)
    recent.addOrdinary(tool, 0)
    const inner = spanOf('t', id(4), tool, root.topId)
    recent.addOrdinary(inner, 0)
    for (const span of [inner, tool]) recent.release(span)
    expect(recent.find(inner.context, 0)).toMatchObject({ above: agent, open: false, isOver: false, topId: root.topId })

    agent.isOver = true
    recent.release(agent)
    const found = recent.find(inner.context, 0)
    expect(found?.above).toBe(root)
    expect(new SpanLinks().isBelowOver(found)).toBe(true)
    expect(new SpanLinks().isBelowOver(recent.find(agent.context, 0))).toBe(true)

    recent.release(root)
    expect(recent.find(root.context, 0)).toMatchObject({ above: undefined, isOver: false, topId: root.topId })
    expect(recent.find(inner.context, 0)).toMatchObject({ above: undefined, isOver: true })
  })
})

import { expect, it } from 'vitest'

import type { HeldSpan } from './held-span.ts'
import { connect, createTrace } from './held-trace.ts'
import type { HeldTrace } from './held-trace.ts'
import { canBePacked, packedPlaces, packTrace, spanCountOf, unitCountOf, unpackTrace } from './packed-trace.ts'
import { addToUnit, createUnit } from './run-unit.ts'
import { heldSize } from './span-content.ts'

const id = (number: number) => number.toString(16).padStart(16, '0')

function heldSpan(number: number, parent: number | undefined, more: Partial<HeldSpan> = {}): HeldSpan {
  return {
    body: undefined,
    start: number * 10,
    end: number * 10 + 7,
    spanId: id(number),
    parentSpanId: parent === undefined ? undefined : id(parent),
    parentIsRemote: number % 2 === 0,
    isAnchor: number % 3 === 0,
    isRecognised: number % 5 !== 0,
    isFlat: number % 7 === 0,
    startTimeMs: 1_790_000_000_000.25 + number,
    endTimeMs: 1_790_000_000_001.5 + number,
    sender: 'one',
    offset: 2 ** 40 + number,
    index: number,
    resource: { 'service.name': 'one' },
    scope: { name: 'a scope' },
    isEmitted: true,
    logs: undefined,
    parent: undefined,
    firstChild: undefined,
    nextSibling: undefined,
    leap: undefined,
    leapAnchor: undefined,
    unit: undefined,
    ...more,
  }
}

/** Two runs, the second of which waits for a parent that never arrived. */
function scoredTrace(): HeldTrace {
  const trace = createTrace('a'.repeat(32))
  const logs = [{ body: undefined, start: 1, end: 2, offset: 9, index: 4, scope: { name: 'a log' } }]
  const units = [
    [heldSpan(3, undefined), heldSpan(4, 3, { logs }), heldSpan(5, 4), heldSpan(7, 3)],
    [heldSpan(9, 1000, { sender: 'two', resource: { 'service.name': 'two' } }), heldSpan(10, 9)],
  ]
  for (const [index, spans] of units.entries()) {
    const [top] = spans
    if (top === undefined) continue
    const unit = createUnit(trace.traceId, top, 1000 + index, 'emitted')
    unit.lingersUntilMs = 5000 + index
    top.unit = unit
    trace.units.add(unit)
    for (const span of spans) {
      trace.spans.set(span.spanId, span)
      trace.bytes += heldSize(span)
      connect(trace, span)
      addToUnit(unit, span, 2000 + index)
    }
  }
  trace.isFlat = true
  trace.lastSeenMs = 2001
  return trace
}

it('is the same trace after it is unpacked', () => {
  const trace = scoredTrace()
  expect(canBePacked(trace)).toBe(true)
  const packed = packTrace(trace)
  expect([spanCountOf(packed), unitCountOf(packed), packed.lingersUntilMs]).toEqual([6, 2, 5001])
  expect(unpackTrace(packed)).toEqual(trace)
  expect([...packedPlaces(packed)]).toEqual(
    [...trace.spans.values()].map(({ spanId, offset, index, logs }) => ({ spanId, offset, index, logs })),
  )
})

it('is not packed while anything but late spans is awaited', () => {
  const open = scoredTrace()
  for (const unit of open.units) unit.state = 'open'
  const withLogs = scoredTrace()
  withLogs.looseLogs.set(id(1), [])
  expect([canBePacked(open), canBePacked(withLogs)]).toEqual([false, false])
})

import type { SourceSpan } from 'spanscore/engine'
import { expect, it } from 'vitest'

import { BUFFER_OPTIONS } from '../../test/buffer-options.ts'
import { toRecord } from '../../test/held-records.ts'
import { HeldTraces } from '../traces/held-traces.ts'
import { sharedLimits } from './shared-limits.ts'

/** Adds spans of agents, each in a trace of its own, while the buffer accepts more. @returns how many */
function fill(buffer: HeldTraces): number {
  let count = 0
  while (!buffer.isFull) {
    count += 1
    const span: SourceSpan = {
      traceId: String(buffer.heldSpans).padStart(32, 'a'),
      spanId: 'b'.repeat(16),
      parentSpanId: undefined,
      name: 'invoke_agent',
      kind: 1,
      attributes: { 'gen_ai.operation.name': 'invoke_agent' },
      resource: {},
      scope: { name: 'test' },
      startTimeMs: 0,
      endTimeMs: 1,
      status: { code: 'unset' },
      events: [],
      droppedAttributesCount: 0,
    }
    buffer.add(buffer.heldSpans + 1, toRecord([span]), 0)
  }
  return count
}

it('gives each partition of a process an equal share, also when other processes take some of them over', () => {
  let partitions = 4
  const buffer = new HeldTraces(
    sharedLimits({ ...BUFFER_OPTIONS, maxSpans: 100, maxContentBytes: 8000 }, () => partitions),
  )
  expect(fill(buffer)).toBe(25)
  expect(buffer.contentBytes).toBeLessThanOrEqual(2000)
  const before = buffer.contentBytes
  partitions = 2
  expect(fill(buffer)).toBe(25)
  expect(buffer.contentBytes).toBeGreaterThan(before)
  partitions = 4
  expect(buffer.isFull).toBe(true)
})

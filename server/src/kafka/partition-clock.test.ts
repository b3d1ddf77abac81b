import { expect, it } from 'vitest'

import { PartitionClock } from './partition-clock.ts'

it('goes by the records while there are more, and by a monotonic clock once all are read', () => {
  let monotonicMs = 50
  const clock = new PartitionClock(['spans', 'logs'], () => monotonicMs)
  clock.advance('spans', 1000, false)
  expect(clock.nowMs).toBe(1000)
  clock.advance('spans', 1500, false)
  // Nothing is known of the log records: they may be older.
  expect(clock.nowMs).toBe(1000)
  clock.advance('logs', undefined, true)
  expect(clock.nowMs).toBe(1500)
  monotonicMs += 60_000
  // A worker that was held up takes nothing for late.
  expect(clock.nowMs).toBe(1500)
  clock.advance('spans', 2000, false)
  expect(clock.nowMs).toBe(2000)
  clock.advance('spans', 3000, true)
  monotonicMs += 500
  expect(clock.nowMs).toBe(3500)
  // A record that was appended before what the clock shows does not turn it back.
  clock.advance('spans', 3200, true)
  expect(clock.nowMs).toBe(3500)
  monotonicMs += 100
  clock.advance('logs', undefined, false)
  monotonicMs += 10_000
  expect(clock.nowMs).toBe(3600)
  clock.advance('logs', 9000, false)
  expect(clock.nowMs).toBe(9000)
})

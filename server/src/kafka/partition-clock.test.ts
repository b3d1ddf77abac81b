import { expect, it } from 'vitest'

import { PartitionClock } from './partition-clock.ts'

it('follows the records while there are more, and a monotonic clock once all are read', () => {
  let monotonicMs = 50
  const clock = new PartitionClock(['spans', 'logs'], () => monotonicMs)
  clock.advance('spans', 1000, false)
  expect(clock.nowMs).toBe(1000)
  clock.advance('spans', 1500, false)
  // Nothing is known about the log records, which may be older.
  expect(clock.nowMs).toBe(1000)
  clock.advance('logs', undefined, true)
  expect(clock.nowMs).toBe(1500)
  monotonicMs += 60_000
  // A worker that was delayed treats nothing as late.
  expect(clock.nowMs).toBe(1500)
  clock.advance('spans', 2000, false)
  expect(clock.nowMs).toBe(2000)
  clock.advance('logs', undefined, true)
  clock.advance('spans', 3000, true)
  monotonicMs += 500
  expect(clock.nowMs).toBe(3500)
  // A record that was appended before the time of the clock does not set it back.
  clock.advance('spans', 3200, true)
  expect(clock.nowMs).toBe(3500)
  monotonicMs += 100
  clock.advance('logs', undefined, false)
  monotonicMs += 10_000
  expect(clock.nowMs).toBe(3600)
  clock.advance('logs', 9000, false)
  expect(clock.nowMs).toBe(9000)
})

it('treats nothing as late, and does not stop, when a broker sets its clock back by an hour', () => {
  let monotonicMs = 0
  const clock = new PartitionClock(['spans', 'logs'], () => monotonicMs)
  const hourMs = 3_600_000
  clock.advance('logs', undefined, true)
  clock.advance('spans', hourMs, true)
  monotonicMs += 1000
  // The broker's clock is set back. Records continue to arrive, and the age of earlier ones stays correct.
  clock.advance('spans', 1000, true)
  expect(clock.nowMs).toBe(hourMs + 1000)
  monotonicMs += 1000
  clock.advance('logs', undefined, true)
  clock.advance('spans', undefined, true)
  // While there is more to read, time does not advance, because the next records have not been read.
  clock.advance('spans', 2000, false)
  const heldUpMs = clock.nowMs
  expect(heldUpMs).toBe(hourMs + 2000)
  monotonicMs += 60_000
  clock.advance('spans', 3000, false)
  expect(clock.nowMs).toBe(heldUpMs)
  clock.advance('logs', undefined, true)
  clock.advance('spans', 4000, true)
  monotonicMs += 500
  expect(clock.nowMs).toBe(heldUpMs + 500)
})

it('does not advance while the process was stopped, or the brokers do not answer', () => {
  let monotonicMs = 0
  const clock = new PartitionClock(['spans', 'logs'], () => monotonicMs)
  clock.advance('logs', undefined, true)
  clock.advance('spans', 10_000, true)
  monotonicMs += 60_000
  expect(clock.nowMs).toBe(11_000)
  // What arrived meanwhile is read, and none of it is late.
  clock.advance('spans', 30_000, false)
  expect(clock.nowMs).toBe(30_000)
  clock.advance('spans', 69_500, true)
  clock.advance('logs', undefined, true)
  monotonicMs += 400
  expect(clock.nowMs).toBe(69_900)
  // If nothing arrived, time continues from its current value.
  for (let second = 0; second < 5; second++) {
    monotonicMs += 1000
    for (const topic of ['spans', 'logs']) clock.advance(topic, undefined, true)
  }
  expect(clock.nowMs).toBe(74_900)
})

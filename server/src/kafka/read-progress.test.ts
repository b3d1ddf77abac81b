import { expect, it } from 'vitest'

import { ReadProgress } from './read-progress.ts'

function create() {
  const clock = { nowMs: 1000 }
  const progress = new ReadProgress(() => clock.nowMs)
  /** Lets time pass, during which the leader reports this end offset every five seconds. */
  const report = (end: number, forMs: number) => {
    for (let passedMs = 0; passedMs < forMs; passedMs += 5000) {
      clock.nowMs += 5000
      progress.endsAt(end)
    }
  }
  return { clock, progress, report }
}

it('measures how long messages that the leader reports have been waiting', () => {
  const { progress, report } = create()
  report(10, 5000)
  progress.advance()
  report(17, 30_000)
  expect([progress.lagFrom(10), progress.idleMs(10)]).toEqual([7, 30_000])
  progress.advance()
  expect(progress.idleMs(12)).toBe(0)
})

it('does not count when nothing waits', () => {
  const { progress, report } = create()
  report(10, 60_000)
  expect([progress.lagFrom(10), progress.idleMs(10)]).toEqual([0, 0])
})

it('does not count the time in which the leader does not answer, and starts from zero when it does', () => {
  const { clock, progress, report } = create()
  report(10, 10_000)
  clock.nowMs += 15_000
  expect([progress.isSilent, progress.idleMs(0)]).toEqual([false, 25_000])
  clock.nowMs += 1
  expect([progress.isSilent, progress.idleMs(0)]).toEqual([true, 0])
  clock.nowMs += 3_600_000
  progress.endsAt(20)
  expect([progress.isSilent, progress.idleMs(0)]).toEqual([false, 0])
  report(20, 30_000)
  expect(progress.idleMs(0)).toBe(30_000)
})

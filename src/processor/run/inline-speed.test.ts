import { expect, test } from 'vitest'

import { InlineSpeed } from './inline-speed.ts'

let cpuMs = 0
const speedOf = (...ids: string[]) => new InlineSpeed(ids, () => cpuMs)

/** One call that takes so long by the clock, and so much of the processor. */
function call(speed: InlineSpeed, tookMs: number, usedMs: number): boolean {
  const start = speed.start('a')
  cpuMs += usedMs
  return speed.isTooSlow('a', tookMs, start)
}

test('the first call that uses the processor for over 5 ms is too slow', () => {
  const speed = speedOf('a')
  expect([call(speed, 4, 4), call(speed, 6, 6)]).toEqual([false, true])
})

test('a call that only waited is not, unless the next one waits too', () => {
  const speed = speedOf('a')
  const calls = [call(speed, 247, 1), call(speed, 1, 1), call(speed, 247, 1), call(speed, 6, 0)]
  expect(calls).toEqual([false, false, false, true])
})

test('a scorer that was quick for a long time is detected at its second slow call', () => {
  const speed = speedOf('a')
  for (let n = 0; n < 100; n += 1) expect(call(speed, 1, 1)).toBe(false)
  expect([call(speed, 30, 30), call(speed, 30, 30)]).toEqual([false, true])
})

test('the processor time is not read for a quick scorer', () => {
  const speed = speedOf('a')
  for (let n = 0; n < 20; n += 1) call(speed, 1, 1)
  expect(speed.start('a')).toBeUndefined()
})

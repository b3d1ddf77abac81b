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

test.each([
  { what: 'new code or a garbage collection', tookMs: 45, usedMs: 45 },
  { what: 'a process that did not get the processor', tookMs: 900, usedMs: 1 },
])('a single slow call says nothing about the scorer: $what', ({ tookMs, usedMs }) => {
  const speed = speedOf('a')
  for (let n = 0; n < 50; n += 1) expect([call(speed, tookMs, usedMs), call(speed, 1, 1)]).toEqual([false, false])
})

test('the second call in a row that uses the processor for over 5 ms is too slow', () => {
  const speed = speedOf('a')
  expect([call(speed, 4, 4), call(speed, 6, 6), call(speed, 6, 6)]).toEqual([false, false, true])
})

test('a slow call that follows one without the processor, as on a busy machine, is not too slow, and the next one is', () => {
  const speed = speedOf('a')
  expect([call(speed, 30, 1), call(speed, 20, 20)]).toEqual([false, false])
  expect([call(speed, 1, 1), call(speed, 20, 20), call(speed, 20, 20)]).toEqual([false, false, true])
})

test('one call that uses the processor for over 50 ms is too slow', () => {
  const speed = speedOf('a')
  expect([call(speed, 50, 50), call(speed, 1, 1), call(speed, 51, 51)]).toEqual([false, false, true])
})

test('two calls in a row that only waited are not too slow, and a third is', () => {
  const speed = speedOf('a')
  const calls = [call(speed, 247, 1), call(speed, 6, 0), call(speed, 1, 1), call(speed, 6, 0)]
  expect(calls).toEqual([false, false, false, false])
  expect([call(speed, 247, 1), call(speed, 6, 0)]).toEqual([false, true])
})

test('a scorer that was quick for a long time is detected at its second slow call', () => {
  const speed = speedOf('a')
  for (let n = 0; n < 100; n += 1) expect(call(speed, 1, 1)).toBe(false)
  expect([call(speed, 30, 30), call(speed, 30, 30)]).toEqual([false, true])
})

test('a limit of more than 50 ms holds for a single call, too', () => {
  const speed = new InlineSpeed(['a'], () => cpuMs, 80)
  expect([call(speed, 70, 70), call(speed, 70, 70), call(speed, 90, 90)]).toEqual([false, false, true])
})

test('the processor time is not read for a quick scorer', () => {
  const speed = speedOf('a')
  for (let n = 0; n < 20; n += 1) call(speed, 1, 1)
  expect(speed.start('a')).toBeUndefined()
})

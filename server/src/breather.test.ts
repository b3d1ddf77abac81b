import { expect, it } from 'vitest'

import { Breather } from './breather.ts'

it('Each step of work with thousands of spans has a turn of its own', async () => {
  const breather = new Breather()
  expect(breather.hasRoomFor(10)).toBe(true)
  expect(breather.hasRoomFor(10_000)).toBe(false)
  let isNext = false
  setImmediate(() => (isNext = true))
  await breather.next()
  expect(isNext).toBe(true)
})

import { expect, it } from 'vitest'

import { Turn } from './turn.ts'

it('Each step of work with thousands of spans has a turn of its own', async () => {
  const turn = new Turn()
  expect(turn.hasRoomFor(10)).toBe(true)
  expect(turn.hasRoomFor(10_000)).toBe(false)
  let isNext = false
  setImmediate(() => (isNext = true))
  await turn.next()
  expect(isNext).toBe(true)
})

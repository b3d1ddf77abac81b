import { expect, it } from 'vitest'

import { Turn } from './turn.ts'

/** Whether work with so many spans begins in a later turn. */
async function isLater(spans: number): Promise<boolean> {
  const turn = new Turn()
  let isNext = false
  setImmediate(() => (isNext = true))
  await turn.roomFor(spans)
  return isNext
}

it('Each step of work with thousands of spans has a turn of its own', async () => {
  expect(await isLater(10)).toBe(false)
  expect(await isLater(10_000)).toBe(true)
})

import { expect, test } from 'vitest'

import { PendingScores } from './pending-scores.ts'

/** Whether it has resolved by the next turn of the event loop. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false
  void promise.then(() => (settled = true))
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

test('who waits, waits for what was announced before, in whatever order it comes in, and for nothing else', async () => {
  const pending = new PendingScores()
  const [first, second] = [pending.begin(), pending.begin()]
  const wait = pending.settled()
  const later = pending.begin()
  pending.end(second)
  expect(await isSettled(wait)).toBe(false)
  pending.end(first)
  expect(await isSettled(wait)).toBe(true)
  const last = pending.settled()
  expect(await isSettled(last)).toBe(false)
  pending.end(later)
  expect(await isSettled(last)).toBe(true)
})

test('with nothing under way nobody waits; two who wait at once are both told', async () => {
  const pending = new PendingScores()
  expect(await isSettled(pending.settled())).toBe(true)
  const generation = pending.begin()
  const waits = [pending.settled(), pending.settled()]
  // A second score of the same run belongs to its first one's generation.
  pending.begin(generation)
  pending.end(generation)
  expect(await Promise.all(waits.map(isSettled))).toEqual([false, false])
  pending.end(generation)
  expect(await Promise.all(waits.map(isSettled))).toEqual([true, true])
})

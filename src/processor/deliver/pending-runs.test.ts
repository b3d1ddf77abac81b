import { expect, test } from 'vitest'

import { PendingRuns } from './pending-runs.ts'

/** Whether it has resolved by the next turn of the event loop. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false
  void promise.then(() => (settled = true))
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

test('a flush waits for the runs that were pending when it began, in whatever order they end, and for no others', async () => {
  const pending = new PendingRuns()
  const [first, second, later] = [{}, {}, {}]
  pending.add(first)
  pending.add(second)
  const flush = pending.settled()
  pending.add(later)
  pending.delete(second)
  expect(await isSettled(flush)).toBe(false)
  pending.delete(first)
  expect(await isSettled(flush)).toBe(true)
  const last = pending.settled()
  expect(await isSettled(last)).toBe(false)
  pending.delete(later)
  expect(await isSettled(last)).toBe(true)
})

test('a flush that waits for a run also waits for further scores of it', async () => {
  const pending = new PendingRuns()
  const run = {}
  pending.add(run)
  const flush = pending.settled()
  pending.add(run)
  expect(await isSettled(flush)).toBe(false)
  pending.delete(run)
  expect(await isSettled(flush)).toBe(true)
})

test('a flush ends immediately if nothing is pending, and two concurrent flushes both end', async () => {
  const pending = new PendingRuns()
  expect(await isSettled(pending.settled())).toBe(true)
  const [early, late] = [{}, {}]
  pending.add(early)
  const first = pending.settled()
  pending.add(late)
  const second = pending.settled()
  pending.delete(late)
  expect(await Promise.all([first, second].map(isSettled))).toEqual([false, false])
  pending.delete(early)
  expect(await Promise.all([first, second].map(isSettled))).toEqual([true, true])
})

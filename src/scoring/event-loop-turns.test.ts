import { expect, test } from 'vitest'

import { EventLoopTurns } from './event-loop-turns.ts'

/** Runs `pieces` pieces of work of `milliseconds` each, and returns the turn of the event loop in which each began. */
async function turnsOf(pieces: number, milliseconds: number): Promise<number[]> {
  let [nowMs, turn] = [0, 0]
  let isDone = false
  const count = (): void => {
    turn += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const turns = new EventLoopTurns(() => nowMs)
  const begun = await Promise.all(
    Array.from({ length: pieces }, async () => {
      await turns.next()
      nowMs += milliseconds
      return turn
    }),
  )
  isDone = true
  return begun
}

test('gives each piece of slow work its own turn, in the order of the calls', async () => {
  const begun = await turnsOf(8, 40)
  expect(new Set(begun).size).toBe(8)
  expect(begun).toEqual(begun.toSorted((one, other) => one - other))
})

test('lets pieces of quick work share a turn', async () => {
  expect(new Set(await turnsOf(40, 0.1)).size).toBe(1)
  expect(new Set(await turnsOf(40, 1)).size).toBe(8)
})

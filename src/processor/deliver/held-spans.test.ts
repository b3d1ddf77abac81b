import { expect, it } from 'vitest'

import type { EndedSpan } from '../sdk-types.ts'
import { HeldSpans } from './held-spans.ts'

/** Held spans on a clock that stands still but for releases, which take a millisecond each. */
function holding() {
  let nowMs = 0
  const released: string[] = []
  const waiting: { readonly atMs: number; readonly due: () => void }[] = []
  const held = new HeldSpans({
    maxHeld: 1000,
    holdMs: 5000,
    now: () => nowMs,
    scheduler: {
      after: (ms, due) => {
        const deadline = { atMs: nowMs + ms, due }
        waiting.push(deadline)
        return () => void waiting.splice(waiting.indexOf(deadline), 1)
      },
    },
    release: ({ name }) => {
      released.push(name)
      nowMs += 1
    },
  })
  const hold = (count: number) =>
    Array.from({ length: count }, (_, index) => held.hold({ name: `span ${index}` } as EndedSpan))
  /** Does what is due in the next turn of the event loop, and says what it released. */
  const nextTurn = (afterMs = 0): readonly string[] => {
    nowMs += afterMs
    released.length = 0
    const due = waiting.filter(({ atMs }) => atMs <= nowMs)
    for (const deadline of due) {
      if (!waiting.includes(deadline)) continue
      waiting.splice(waiting.indexOf(deadline), 1)
      deadline.due()
    }
    return [...released]
  }
  return { held, hold, released, nextTurn }
}

it('releases the spans that waited for an older one over several turns, in their order', () => {
  const { held, hold, released, nextTurn } = holding()
  const [first, ...others] = hold(12)
  for (const other of others) other.ready()
  expect(released).toEqual([])
  first?.ready()
  expect(released).toEqual([0, 1, 2, 3, 4].map((index) => `span ${index}`))
  expect(others.at(-1)?.stamp({ late: 1 })).toBe(true)
  expect(nextTurn()).toEqual([5, 6, 7, 8, 9].map((index) => `span ${index}`))
  expect(nextTurn()).toEqual(['span 10', 'span 11'])
  expect(held.size).toBe(0)
  expect(nextTurn()).toEqual([])
})

it('does not release more in a turn because further spans become ready in it', () => {
  const { hold, released, nextTurn } = holding()
  const all = hold(20)
  for (const one of all.slice(1, 15)) one.ready()
  all[0]?.ready()
  for (const one of all.slice(15)) one.ready()
  expect(released).toHaveLength(5)
  expect([nextTurn(), nextTurn(), nextTurn(), nextTurn()].map(({ length }) => length)).toEqual([5, 5, 5, 0])
})

it('releases the spans behind one that was held for too long over several turns', () => {
  const { hold, nextTurn } = holding()
  hold(1)
  expect(nextTurn(4000)).toEqual([])
  for (const other of hold(8)) other.ready()
  expect(nextTurn(999)).toEqual([])
  expect(nextTurn(1)).toHaveLength(6)
  expect(nextTurn()).toHaveLength(3)
})

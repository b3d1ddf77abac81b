import { expect, it } from 'vitest'

import { InlineSpeed } from './inline-scoring.ts'

function verdicts(...calls: readonly number[]) {
  const speed = new InlineSpeed(5)
  return calls.map((tookMs) => speed.isTooSlow('a', tookMs))
}

it('finds a scorer that is slow three times in a row, and very slow calls count twice', () => {
  expect(verdicts(9, 9, 9)).toEqual([false, false, true])
  expect(verdicts(400, 1, 400, 1)).toEqual([false, false, false, false])
  expect(verdicts(400, 9)).toEqual([false, true])
  expect(verdicts(9, 9, 4, 9, 9, 4)).not.toContain(true)
})

it('keeps scorers apart', () => {
  const speed = new InlineSpeed(5)
  for (const id of ['a', 'b', 'a', 'b']) speed.isTooSlow(id, 9)
  expect([speed.isTooSlow('a', 1), speed.isTooSlow('b', 9)]).toEqual([false, true])
})

import { expect, test } from 'vitest'

import { PerSecond } from './per-second.ts'

test('gives so many in each second', () => {
  let nowMs = 1_800_000_000_000
  const some = new PerSecond(3, () => nowMs)
  const taken = (): number => Array.from({ length: 5 }, () => some.take()).filter(Boolean).length
  expect(taken()).toBe(3)
  nowMs += 999
  expect(taken()).toBe(0)
  nowMs += 1
  expect(taken()).toBe(3)
  nowMs -= 60_000
  expect(taken()).toBe(3)
})

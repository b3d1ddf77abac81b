import { expect, it } from 'vitest'

import { TakenSignals } from './taken-signals.ts'

it('lacks a signal that was never accepted while the other one is', () => {
  const taken = new TakenSignals()
  expect(taken.lacks('logs', 404)).toBe(false)
  taken.accepted('traces')
  expect(taken.lacks('logs', 503)).toBe(false)
  expect(taken.lacks('logs', undefined)).toBe(false)
  expect(taken.lacks('logs', 404)).toBe(true)
  // The whole destination is away.
  expect(taken.lacks('traces', 404)).toBe(false)
  expect(taken.lacks('logs', 404)).toBe(false)
  taken.accepted('logs')
  taken.accepted('traces')
  expect(taken.lacks('logs', 404)).toBe(false)
})

import { expect, it } from 'vitest'

import { whyStuck } from './why-stuck.ts'

const NOW_MS = 1_000_000
const ORPHAN_MS = 300_000

function partition(number: number, idleMs: number, isFull = false) {
  return { number, lag: idleMs > 0 ? 7 : 0, idleMs: () => idleMs, buffer: { isFull } }
}

it('names the partition from which nothing was read for half a minute, whatever the others do', () => {
  expect(whyStuck([partition(0, 0), partition(1, 29_999)], NOW_MS, ORPHAN_MS)).toBeUndefined()
  expect(whyStuck([partition(0, 0), partition(1, 30_000)], NOW_MS, ORPHAN_MS)).toBe(
    'Nothing was read from partition 1 for 30 s although 7 messages wait.',
  )
})

it('allows a full buffer to wait as long as spans wait for their parent', () => {
  expect(whyStuck([partition(0, 329_000, true)], NOW_MS, ORPHAN_MS)).toBeUndefined()
  expect(whyStuck([partition(0, 331_000, true)], NOW_MS, ORPHAN_MS)).toContain('partition 0 for 331 s')
})

import { expect, it } from 'vitest'

import { ProviderPause } from './provider-pause.ts'

it('pauses a provider for longer after each failure, and ends the pauses when it answers', () => {
  let nowMs = 0
  const pause = new ProviderPause(() => nowMs)
  const lengths: number[] = []
  for (let round = 0; round < 6; round += 1) {
    // Eight judges report the same failure.
    for (let each = 0; each < 8; each += 1) pause.begin()
    lengths.push(pause.leftMs)
    nowMs += pause.leftMs
    expect(pause.leftMs).toBe(0)
  }
  expect(lengths).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000])
  pause.begin()
  pause.end()
  expect(pause.leftMs).toBe(0)
  pause.begin()
  expect(pause.leftMs).toBe(1000)
})

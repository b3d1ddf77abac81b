import { expect, test } from 'vitest'

import { readBytesOf, ReadEstimate } from './read-bytes.ts'

const span = (role: string, contentBytes: number) => ({ role, contentBytes })

/** A conversation whose requests repeat all of it. */
const conversation = Array.from({ length: 30 }, (_, index) => span('model', 10_000 * (index + 1)))
const tools = conversation.map(() => span('tool', 5000))

test('requests that repeat the conversation count once, and what tools returned counts in full', () => {
  const spans = [span('agent', 1000), ...conversation, ...tools]
  expect(readBytesOf(spans)).toBe(1000 + 2 * 300_000 + 30 * 5000 + 61 * 512)
})

test('without spans of tools, every request counts: each may have results that no other has', () => {
  expect(readBytesOf(conversation)).toBe(4_650_000 + 30 * 512)
})

test('the estimate never falls below what it has to be at least', () => {
  const spans = [span('agent', 1000), ...conversation, ...tools, span('model', 700_000), span('tool', 9)]
  const estimate = new ReadEstimate()
  let least = 0
  for (const each of spans) {
    estimate.add(each)
    expect(estimate.leastBytes).toBeGreaterThanOrEqual(least)
    expect(estimate.bytes).toBeGreaterThanOrEqual(estimate.leastBytes)
    least = estimate.leastBytes
  }
  expect(estimate.bytes).toBe(readBytesOf(spans))
})

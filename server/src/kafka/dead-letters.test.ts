import { expect, it } from 'vitest'

import type { Unreadable } from './assigned-partition.ts'
import { DeadLetters } from './dead-letters.ts'
import type { RecordWriter } from './record-writer.ts'
import { Refusals } from './refusals.ts'

function unreadable(bytes: number): Unreadable {
  const record = { offset: 7, appendMs: 0, key: '', value: new Uint8Array(bytes), headers: new Map<string, string>() }
  return { topic: 'spans', partition: 0, record, reason: 'malformed' }
}

/** Dead letters whose topic has no leader for as long as a test wants, with its own clock and a broker that accepts afterwards. */
function setUp() {
  const state = { nowMs: 0, isAway: true, sent: 0, sentBytes: 0, attempts: 0, mostBytes: Infinity }
  const writer: Pick<RecordWriter, 'anyPartition' | 'append'> = {
    anyPartition: () => Promise.resolve(0),
    append: (_topic, _partition, messages) => {
      state.attempts += 1
      if (state.isAway) return Promise.reject(new Error('LEADER_NOT_AVAILABLE'))
      const bytes = messages.reduce((sum, { value }) => sum + value.byteLength, 0)
      if (bytes > state.mostBytes)
        return Promise.reject(Object.assign(new Error('too large'), { apiId: 'MESSAGE_TOO_LARGE' }))
      state.sent += messages.length
      state.sentBytes += bytes
      return Promise.resolve(0)
    },
  }
  const now = () => state.nowMs
  const letters = new DeadLetters({
    writer,
    topic: 'dead',
    refusals: new Refusals(now),
    report: () => undefined,
    now,
  })
  return { state, letters }
}

it('reports for how long messages could not be moved, and moves them when the topic has a leader again', async () => {
  const { state, letters } = setUp()
  const put = letters.put(unreadable(10), () => true)
  await expect.poll(() => state.attempts).toBeGreaterThan(0)
  state.nowMs += 9000
  expect(letters).toMatchObject({ failingForMs: 9000, unavailable: undefined })
  state.nowMs += 3000
  expect(letters.unavailable).toBe(
    'Messages that cannot be read could not be moved to dead for 12 s. They stay on Kafka.',
  )
  state.isAway = false
  expect(await put).toBe(true)
  expect(letters).toMatchObject({ failingForMs: 0, unavailable: undefined })
  expect(state.sent).toBe(1)
})

it.each([
  ['1,000 messages', 1000, 10],
  ['16 MiB of messages', 16, 1024 * 1024],
])('is full with %s, and has room again when they were moved', async (_, count, bytes) => {
  const { state, letters } = setUp()
  const puts = Array.from({ length: count - 1 }, () => letters.put(unreadable(bytes), () => true))
  expect(letters.isFull).toBe(false)
  puts.push(letters.put(unreadable(bytes), () => true))
  expect(letters.isFull).toBe(true)
  await expect.poll(() => state.attempts).toBeGreaterThan(0)
  state.nowMs += 10_000
  expect(letters.unavailable).toContain('for 10 s. Nothing is read until they can.')
  state.isAway = false
  expect(await Promise.all(puts)).toEqual(puts.map(() => true))
  expect(letters.isFull).toBe(false)
  expect(state.sent).toBe(count)
})

it('forgets messages of partitions that have moved, and is not failing then', async () => {
  const { state, letters } = setUp()
  let isWanted = true
  const put = letters.put(unreadable(10), () => isWanted)
  await expect.poll(() => letters.failingForMs + state.attempts).toBeGreaterThan(0)
  isWanted = false
  expect(await put).toBe(false)
  await expect.poll(() => letters.failingForMs).toBe(0)
  expect(state.sent).toBe(0)
})

it('keeps place and reason of a message that is too large for the topic, and the others whole', async () => {
  const { state, letters } = setUp()
  state.isAway = false
  state.mostBytes = 1000
  const puts = [400, 5000, 400, 400].map((bytes) => letters.put(unreadable(bytes), () => true))
  expect(await Promise.all(puts)).toEqual([true, true, true, true])
  expect(state).toMatchObject({ sent: 4, sentBytes: 1200 })
})

import { expect, test } from 'vitest'

import { playLogFlood } from './log-flood.ts'

test.each([
  [6000, 1],
  [10_000, 4],
])('a run with %d log records on %d spans is scored, and each record is read a few times', async (records, spans) => {
  let reads = 0
  const { scorers } = await playLogFlood(records, spans, { onRead: () => (reads += 1) })
  expect(scorers['loop']).toMatchObject({ offered: 1, scored: 1 })
  expect(reads / records).toBeLessThanOrEqual(4)
})

test('a run with 10,000 log records on one span is more than code is asked about, and they are read no more often', async () => {
  let reads = 0
  const { scorers } = await playLogFlood(10_000, 1, { onRead: () => (reads += 1) })
  expect(scorers['loop']).toMatchObject({ offered: 1, skipped: 1, reasons: { 'no-content': 1 } })
  expect(reads / 10_000).toBeLessThanOrEqual(4)
})

import { expect, test } from 'vitest'

import { playLogFlood } from './log-flood.ts'
import { playOpenTools } from './many-spans.ts'

/** Milliseconds of processor time. */
async function cpuMs(play: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await play()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** What it takes until the tools of these agents have ended, and each run is settled with the end of its tool. */
async function endOfTools(agents: number): Promise<number> {
  const { scoring, tools } = playOpenTools(agents, 1_000_000)
  const ms = await cpuMs(() => {
    for (const tool of tools) tool.end()
  })
  expect(scoring.ledger().runs).toMatchObject({ seen: agents, closed: agents })
  await scoring.shutdown()
  return ms
}

test('thousands of runs that wait for their tools take time in proportion when these end', async () => {
  await endOfTools(500)
  const some = Math.min(await endOfTools(500), await endOfTools(500))
  // There are sixteen times as many; to look at all waiting runs at each end takes more than eighty times as long.
  const limit = 16 * some + 150
  const many = await endOfTools(8000)
  expect(many < limit ? many : await endOfTools(8000)).toBeLessThan(limit)
})

test.each([20, 500])('thousands of log records of %d spans take time in proportion', async (spans) => {
  await playLogFlood(400, 4)
  const fewer = await cpuMs(() => playLogFlood(800, 20))
  const many = await cpuMs(() => playLogFlood(4000, spans))
  expect(many / Math.max(100, fewer)).toBeLessThan(15)
})

import { expect, test } from 'vitest'

import { LongTurns } from '../fuzz/long-turns.ts'
import { playLogFlood } from './log-flood.ts'

/** Milliseconds of processor time that one turn, or a hundred log records, may take. */
const LONGEST_MS = 50

/** Plays a flood, and measures its turns and hooks. */
async function play(records: number, spans: number): Promise<{ long: readonly string[]; cpuMs: number }> {
  const turns = new LongTurns(LONGEST_MS)
  const before = process.threadCpuUsage()
  await playLogFlood(records, spans, { begin: (what) => turns.begin(what) })
  const { user, system } = process.threadCpuUsage(before)
  return { long: turns.report().own.map(({ text }) => text), cpuMs: (user + system) / 1000 }
}

test('thousands of log records make no turn long, and their time grows in proportion', async () => {
  await play(400, 4)
  const fewer = await play(800, 20)
  for (const spans of [20, 500]) {
    const { long, cpuMs } = await play(4000, spans)
    expect(long).toEqual([])
    expect(cpuMs / Math.max(100, fewer.cpuMs)).toBeLessThan(15)
  }
})

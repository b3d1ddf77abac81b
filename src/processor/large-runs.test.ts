import { expect, it } from 'vitest'

import type { LiveRun } from '../runs/live/live-run.ts'
import { LargeRuns } from './large-runs.ts'

/** A run whose spans take so many milliseconds each to be read. */
function createRun(name: string, spans: number, clock: { nowMs: number }, msEach: number): LiveRun {
  let unread = spans
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part of a run that is read here
  return {
    name,
    effortBytes: 1_000_000,
    readAhead: (isTimeUp: () => boolean) => {
      while (unread > 0) {
        clock.nowMs += msEach
        unread -= 1
        if (isTimeUp()) break
      }
      return unread === 0
    },
  } as unknown as LiveRun
}

it('reads large runs over several turns of the event loop, one after the other', async () => {
  const clock = { nowMs: 0 }
  const seen: LiveRun[] = []
  const large = new LargeRuns(
    () => clock.nowMs,
    (run) => seen.push(run),
  )
  const first = createRun('first', 10, clock, 4)
  const second = createRun('second', 1, clock, 4)
  large.add(first)
  large.add(second)
  const turns: number[] = []
  while (seen.length < 2) {
    const beforeMs = clock.nowMs
    await new Promise((resolve) => setImmediate(resolve))
    turns.push(clock.nowMs - beforeMs)
  }
  expect(seen).toEqual([first, second])
  expect(Math.max(...turns)).toBeLessThanOrEqual(8)
  expect(turns.length).toBeGreaterThanOrEqual(6)
})

it('reports when all of them have been read', async () => {
  const clock = { nowMs: 0 }
  const seen: LiveRun[] = []
  const large = new LargeRuns(
    () => clock.nowMs,
    (run) => seen.push(run),
  )
  await large.settled()
  large.add(createRun('first', 10, clock, 4))
  await large.settled()
  expect(seen).toHaveLength(1)
  large.add(createRun('second', 10, clock, 4))
  const settled = large.settled()
  // What comes later is not waited for.
  large.add(createRun('third', 1000, clock, 4))
  await settled
  expect(seen).toHaveLength(2)
})

it('gives up unread runs if the event loop has no more turns', async () => {
  const clock = { nowMs: 0 }
  const seen: [LiveRun, boolean][] = []
  const large = new LargeRuns(
    () => clock.nowMs,
    (run, isRead) => seen.push([run, isRead]),
  )
  const runs = [createRun('first', 10, clock, 4), createRun('second', 10, clock, 4)] as const
  for (const run of runs) large.add(run)
  const settled = large.settled()
  large.giveUp()
  await settled
  expect(seen).toEqual(runs.map((run) => [run, false]))
  expect(clock.nowMs).toBe(0)
})

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { ScoringQueue } from './queue.ts'
import type { DropReason, QueueJob } from './queue.ts'

interface Tracked extends QueueJob {
  readonly id: number
  finish(): void
}

function createQueue(concurrency: number, capacity: number, maxAgeMs = Number.POSITIVE_INFINITY) {
  const clock = { nowMs: 0 }
  const queue = new ScoringQueue({ concurrency, capacity, maxAgeMs, now: () => clock.nowMs })
  const started: number[] = []
  const dropped: [number, DropReason][] = []
  let nextId = 0
  const createJob = (priority: 0 | 1): Tracked => {
    const id = nextId++
    const { promise, resolve } = Promise.withResolvers<void>()
    return {
      id,
      priority,
      finish: resolve,
      start: () => {
        started.push(id)
        return promise
      },
      dropped: (reason) => void dropped.push([id, reason]),
    }
  }
  return { clock, queue, started, dropped, createJob }
}

test('jobs start by priority, then in the order of arrival', async () => {
  const { queue, started, createJob } = createQueue(1, 10)
  const jobs = ([0, 0, 1, 0, 1] as const).map(createJob)
  for (const job of jobs) queue.add(job)
  for (let done = 0; done < jobs.length; done += 1) {
    const id = started[done] ?? 0
    jobs[id]?.finish()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(started).toEqual([0, 2, 4, 1, 3])
})

test('a full queue drops the newest job of a lower priority, or else the new job', () => {
  const { queue, dropped, createJob } = createQueue(1, 2)
  for (const priority of [0, 0, 0, 0, 1, 1, 1] as const) queue.add(createJob(priority))
  expect(dropped).toEqual([
    [3, 'queue-full'],
    [2, 'queue-full'],
    [1, 'queue-full'],
    [6, 'queue-full'],
  ])
})

test('a job that has waited too long is dropped instead of started', async () => {
  const { clock, queue, started, dropped, createJob } = createQueue(1, 10, 100)
  const [first, second, third] = [createJob(0), createJob(0), createJob(0)]
  queue.add(first)
  queue.add(second)
  clock.nowMs = 90
  queue.add(third)
  clock.nowMs = 150
  first.finish()
  await new Promise((resolve) => setImmediate(resolve))
  expect(dropped).toEqual([[1, 'expired']])
  expect(started).toEqual([0, 2])
})

test('every job is started or dropped exactly once, within the limits, in any sequence', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 4 }),
      fc.array(fc.oneof(fc.constantFrom(0, 1), fc.constant('finish' as const)), { maxLength: 60 }),
      async (concurrency, capacity, steps) => {
        const { queue, started, dropped, createJob } = createQueue(concurrency, capacity)
        const jobs: Tracked[] = []
        const running = () => started.filter((id) => !finished.has(id))
        const finished = new Set<number>()
        for (const step of steps) {
          if (step === 'finish') {
            const [id] = running()
            if (id === undefined) continue
            finished.add(id)
            jobs[id]?.finish()
            await new Promise((resolve) => setImmediate(resolve))
          } else {
            const job = createJob(step)
            jobs.push(job)
            queue.add(job)
          }
          expect(queue.size).toBeLessThanOrEqual(capacity)
          expect(running().length).toBeLessThanOrEqual(concurrency)
          expect(started.length + dropped.length + queue.size).toBe(jobs.length)
        }
        expect(new Set([...started, ...dropped.map(([id]) => id)]).size).toBe(started.length + dropped.length)
      },
    ),
    { numRuns: 100 },
  )
})

import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { createJob } from '../../../test/judge-jobs.ts'
import { JobWriter } from './job-writer.ts'

const SCORER = { id: 'rubric', version: '1', kind: 'judge', range: [0, 1], better: 'higher', passAt: 0.5 } as const

/** A topic, some partitions of which can be written. */
function setUp(partitionCount: number) {
  const topic = { partitionCount, isWritable: (_partition: number) => true }
  const written: string[][] = []
  const jobs = new JobWriter({
    writer: {
      partitions: () => Promise.resolve(Array.from({ length: topic.partitionCount }, () => ({ leader: 1 }))),
      append: (_topic, partition, messages) => {
        if (!topic.isWritable(partition)) return Promise.reject(new Error('no leader'))
        ;(written[partition] ??= []).push(...messages.map(({ key = '' }) => key))
        return Promise.resolve(0)
      },
      close: () => Promise.resolve(),
    },
    topic: 'jobs',
    maxMessageBytes: 1_000_000,
    configHash: '',
    report: () => undefined,
  })
  return { topic, written, jobs }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

it('writes the jobs of a partition that no longer exists to the others, and is available then', async () => {
  const { topic, written, jobs } = setUp(3)
  topic.isWritable = (partition) => partition < 2
  const outcomes = Array.from({ length: 20 }, (_, index) => jobs.write(createJob(index, SCORER)))
  for (let second = 0; second < 20; second++) await vi.advanceTimersByTimeAsync(1000)
  expect(jobs.unavailable).toMatch(/^Jobs for judges could not be written to jobs, partition 2, for \d+ s/)
  expect(jobs.waitingBytes).toBeGreaterThan(0)
  topic.partitionCount = 2
  for (let second = 0; second < 20; second++) await vi.advanceTimersByTimeAsync(1000)
  expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => undefined))
  expect(new Set(written.flat()).size).toBe(20)
  expect(jobs.unavailable).toBeUndefined()
})

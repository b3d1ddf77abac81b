import { describe, expect, it } from 'vitest'

import { createJob } from '../../test/judge-jobs.ts'
import { decodeJob, encodeJob } from './judge-job.ts'
import type { JudgeJob } from './judge-job.ts'

const scorer = { id: 'rubric', version: 'v1', kind: 'judge', range: [0, 1], better: 'higher', passAt: 0.7 } as const

const job: JudgeJob = { ...createJob(1, scorer), rate: 0.5, point: 0.25, revision: 3, extra: { tenant: 'a' } }

describe('a job for a judge', () => {
  it('is unchanged after it was written and read', () => {
    const read = decodeJob(encodeJob(job, 'abc'))
    expect(read).toEqual({ job, configHash: 'abc' })
    const upstream = { ...job, upstreamProbability: 0.25 }
    expect(decodeJob(encodeJob(upstream, 'abc')).job.upstreamProbability).toBe(0.25)
  })

  it.each([
    ['bytes that are no JSON', Buffer.from('\u0001 no job'), /do not parse/],
    [
      'another format',
      Buffer.from(JSON.stringify({ ...JSON.parse(encodeJob(job, '').toString()), format: 2 })),
      /format/,
    ],
    ['a rate of 0', encodeJob({ ...job, rate: 0 }, ''), /wrong rate/],
    ['a run without tool calls', encodeJob({ ...job, run: JSON.parse('{"id":"x"}') }, ''), /wrong run/],
    ['something else', Buffer.from('[]'), /got one with a wrong/],
  ])('is refused where it is %s, without a word of its content', (_, bytes, message) => {
    expect(() => decodeJob(bytes)).toThrow(message)
  })
})

import { describe, expect, it } from 'vitest'

import { decodeJob, encodeJob } from './judge-job.ts'
import type { JudgeJob } from './judge-job.ts'
import { scoreIds } from './score-ids.ts'

const TRACE_ID = 'ab'.repeat(16)
const SPAN_ID = 'cd'.repeat(8)

const scorer = { id: 'rubric', version: 'v1', kind: 'judge', range: [0, 1], better: 'higher', passAt: 0.7 } as const

const job: JudgeJob = {
  run: {
    id: `${TRACE_ID}:${SPAN_ID}`,
    traceId: TRACE_ID,
    spanId: SPAN_ID,
    dialect: 'gen-ai',
    agent: { name: 'weather-agent' },
    input: [],
    output: 'It rains.',
    toolCalls: [],
    steps: [],
    children: [],
    models: ['gpt'],
    usage: {},
    status: 'ok',
    startTimeMs: 1,
    endTimeMs: 2,
    content: 'full',
    missing: [],
    complete: true,
    revision: 1,
    attributes: {},
    resource: {},
    scope: { name: 'my-agents' },
  },
  scorer,
  rate: 0.5,
  point: 0.25,
  upstreamProbability: undefined,
  ids: scoreIds({ traceId: TRACE_ID, spanId: SPAN_ID }, scorer, [SPAN_ID]),
  revision: 3,
  isCounted: true,
  resource: { 'service.name': 'weather-app' },
  extra: { tenant: 'a' },
}

describe('a job for a judge', () => {
  it('is the same after it was written and read', () => {
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

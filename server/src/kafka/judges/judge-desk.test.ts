import { createRubricScorer } from 'spanscore/scorers/prebuilt'
import { createScriptedOpenAIServer, judgeReply } from 'spanscore/testing'
import { createOpenAI } from '@ai-sdk/openai'
import { expect, it } from 'vitest'

import { encodeJob } from '../../score/judge-job.ts'
import { JudgeScorer } from '../../score/judge-scorer.ts'
import { createJob } from '../../../test/judge-jobs.ts'
import type { ExportOutcome } from '../../send/acknowledged-exporter.ts'
import { Outbox } from '../../send/outbox.ts'
import { ServiceMeters } from '../../send/service-meters.ts'
import type { FetchedRecord } from '../records-of.ts'
import { zeroCounts } from './judge-counts.ts'
import { JudgeDesk } from './judge-desk.ts'
import { JudgePartition } from './judge-partition.ts'

const CONCURRENCY = 3

/** A desk with a real judge over HTTP, with a broker and a destination whose answers the test sets. */
async function setUp(count: number) {
  const state = { isCommitted: true, isDelivered: true, delayMs: 0, mostInFlight: 0 }
  const server = await createScriptedOpenAIServer(() => ({
    text: judgeReply({ verdicts: { polite: 'pass' } }),
    delayMs: state.delayMs,
  }))
  const judge = createOpenAI({ baseURL: server.url, apiKey: 'scripted' }).chat('gpt-5-mini')
  const scorer = new JudgeScorer(
    {
      scorers: [createRubricScorer({ model: judge, criteria: [{ id: 'polite', question: 'Is it polite?' }] })],
      concurrency: CONCURRENCY,
      budget: { callsPerMinute: 1000 },
    },
    new ServiceMeters('test', undefined),
    () => 0,
  )
  const [configured] = scorer.scorers
  if (configured === undefined) throw new Error('Expected a judge.')
  const delivered: number[] = []
  const exporter = {
    send: (items: readonly unknown[]): Promise<ExportOutcome> => {
      if (!state.isDelivered) return Promise.resolve({ status: 'failed', message: 'away' })
      delivered.push(items.length)
      return Promise.resolve({ status: 'acknowledged' })
    },
    shutdown: () => Promise.resolve(),
  }
  const outbox = new Outbox({ logs: exporter, spans: exporter, report: () => undefined, now: () => performance.now() })
  const counts = zeroCounts()
  const open = (number: number): JudgePartition =>
    new JudgePartition({
      number,
      committed: undefined,
      createBudget: (history) => scorer.createBudget(1, () => Date.now(), history),
      monotonicMs: () => performance.now(),
      report: () => undefined,
    })
  const partition = open(0)
  const other = open(1)
  const begin = () => desk.beginSome([partition, other])
  const desk: JudgeDesk = new JudgeDesk({
    scorer,
    outbox,
    counts,
    configHash: '',
    maxJobAgeMs: 60_000,
    commits: {
      commit: () => {
        state.mostInFlight = Math.max(state.mostInFlight, partition.inFlight)
        for (const each of state.isCommitted ? [partition, other] : []) {
          const commit = each.takeCommit()
          if (commit !== undefined) each.committed(commit)
        }
        if (state.isCommitted) begin()
        return Promise.resolve(state.isCommitted)
      },
    },
    moveToDeadLetters: () => Promise.resolve(true),
    onFree: begin,
    report: () => undefined,
    epochMs: () => Date.now(),
    monotonicMs: () => performance.now(),
  })
  const records = Array.from({ length: count }, (_, index): FetchedRecord => {
    const job = createJob(index, configured)
    return { offset: index, appendMs: Date.now(), key: job.ids.id, value: encodeJob(job, ''), headers: new Map() }
  })
  partition.take(records, count)
  /** @param first The number of the first job; others are numbered from there. */
  const putOnOther = (indexes: number, { first = count, ageMs = 0 } = {}): void => {
    const more = Array.from({ length: indexes }, (_, offset) => {
      const job = createJob(first + offset, configured)
      return { offset, appendMs: Date.now() - ageMs, key: job.ids.id, value: encodeJob(job, ''), headers: new Map() }
    })
    other.take(more, indexes)
  }
  const close = async () => {
    await outbox.shutdown()
    await scorer.shutdown()
    await server.close()
  }
  return { state, server, desk, partition, other, putOnOther, counts, delivered, begin, [Symbol.asyncDispose]: close }
}

async function until(holds: () => boolean): Promise<void> {
  const endMs = performance.now() + 10_000
  while (!holds()) {
    if (performance.now() > endMs) throw new Error('Waited for 10 s.')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

it('asks no judge before the reservation has been committed', async () => {
  await using all = await setUp(5)
  const { state, server, desk, partition, counts, begin } = all
  state.isCommitted = false
  begin()
  await until(() => desk.asking === CONCURRENCY)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(server.requests).toHaveLength(0)
  // Another process owns the partition, so no judge is asked.
  desk.abandon(partition)
  state.isCommitted = true
  await until(() => desk.asking === 0)
  expect(server.requests).toHaveLength(0)
  expect(counts).toMatchObject({ asked: 0, abandoned: CONCURRENCY })
})

it('has at most twice its concurrency in flight while scores cannot be delivered', async () => {
  await using all = await setUp(40)
  const { state, server, partition, counts, begin } = all
  state.isDelivered = false
  begin()
  await until(() => partition.inFlight === 2 * CONCURRENCY && counts.asked === 2 * CONCURRENCY)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(server.requests).toHaveLength(2 * CONCURRENCY)
  expect(partition.lag).toBe(40)
  state.isDelivered = true
  await until(() => partition.lag === 0)
  expect(counts.asked).toBe(40)
  expect(partition.inFlight).toBe(0)
  expect(state.mostInFlight).toBe(2 * CONCURRENCY)
})

it('aborts questions for a partition that it has lost, and delivers none of their scores', async () => {
  await using all = await setUp(CONCURRENCY)
  const { state, server, desk, partition, counts, delivered, begin } = all
  state.delayMs = 60_000
  begin()
  await until(() => server.requests.length === CONCURRENCY)
  desk.abandon(partition)
  await until(() => desk.asking === 0)
  expect(counts).toMatchObject({ asked: 0, abandoned: CONCURRENCY })
  expect(delivered).toEqual([])
})

it('starts jobs of the partitions in turn, so that one with many jobs does not delay the others', async () => {
  await using all = await setUp(40)
  const { counts, partition, other, putOnOther, begin } = all
  putOnOther(3)
  begin()
  await until(() => other.lag === 0)
  expect(counts.asked).toBeLessThan(15)
  await until(() => partition.lag === 0)
  expect(counts.asked).toBe(43)
})

it('asks no judge about a job that is too old, or whose score it has delivered, and finishes both', async () => {
  await using all = await setUp(2)
  const { server, counts, partition, other, putOnOther, begin } = all
  begin()
  await until(() => partition.lag === 0)
  // Another partition does not know which jobs were on this one.
  putOnOther(2, { first: 0 })
  begin()
  await until(() => other.lag === 0)
  expect(counts).toMatchObject({ asked: 2, duplicates: 2 })
  putOnOther(4, { first: 10, ageMs: 61_000 })
  begin()
  await until(() => other.lag === 0)
  expect(counts.unasked.expired).toBe(4)
  expect(server.requests).toHaveLength(2)
})

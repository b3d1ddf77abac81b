/** Mistakes of operators with topics and groups while workers run, and messages that other programs write there. */
import { randomBytes } from 'node:crypto'

import { afterAll, describe, expect, it } from 'vitest'

import { startWorker } from '../../src/start-worker.ts'
import type { RunningWorker } from '../../src/start-worker.ts'
import { toRequest, until } from '../traces.ts'
import { startKafka } from './kafka-cluster.ts'
import { Sender } from './sender.ts'
import { sharedKafka } from './shared-broker.ts'
import { makeRuns, WorkerBench } from './worker-bench.ts'
import { APPEND_TIME, topicsOf } from './worker-options.ts'
import { startWorkerProcess } from './worker-process.ts'

const kafka = sharedKafka()

afterAll(async () => {
  await kafka.close()
})

interface Counts {
  readonly worker: { readonly dead: number; readonly lag: number; readonly messages: number }
}

function countsOf(worker: RunningWorker): Counts['worker'] {
  const { worker: counts }: Counts = JSON.parse(JSON.stringify(worker.counts()))
  return counts
}

async function healthOf(worker: RunningWorker, path = 'health'): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${worker.httpPort}/${path}`)
  return [response.status, await response.text()]
}

const readyOf = (worker: RunningWorker) => healthOf(worker, 'ready')

describe('a worker', () => {
  it('fails health when topics get partitions that nobody reads, and reads them after a restart', async () => {
    await using bench = await WorkerBench.create(kafka, 'grown', 2)
    const before = await startWorker(bench.options())
    const runs = makeRuns(20)
    await bench.send(runs)
    await until(() => bench.hasScored(runs), 'scores', 60_000)
    expect((await healthOf(before))[0]).toBe(200)
    const { spans, logs } = topicsOf('grown')
    await kafka.admin.createPartitions({
      topics: [spans, logs].map((name) => ({ name, count: 4, assignments: [{ brokerIds: [1] }, { brokerIds: [1] }] })),
    })
    await expect
      .poll(() => healthOf(before), { timeout: 30_000 })
      .toEqual([503, expect.stringContaining('grown.spans has 4 partitions, and had 2 when this process started')])
    await before.stop()
    const later = makeRuns(40)
    const after = await startWorker(bench.options())
    // This is a new producer, because the earlier one knows only two partitions.
    const sender = new Sender(kafka.brokers, spans)
    for (const place of [0, 1, 2]) {
      await sender.send(later.map((run) => ({ traceId: run.traceId, request: run.requests[place] })))
    }
    await until(() => bench.hasScored(later), 'scores from all partitions', 60_000)
    expect((await healthOf(after))[0]).toBe(200)
    await after.stop()
    await sender.close()
    expect(bench.scores).toHaveLength(60)
  })

  it('reads topics from their beginning that were deleted and created again', async () => {
    await using bench = await WorkerBench.create(kafka, 'anew')
    const worker = await startWorker(bench.options())
    const runs = makeRuns(50)
    await bench.send(runs)
    await until(() => bench.hasScored(runs), 'scores', 60_000)
    const { spans, logs } = topicsOf('anew')
    await kafka.admin.deleteTopics({ topics: [spans, logs] })
    await expect
      .poll(() => readyOf(worker), { timeout: 30_000 })
      .toEqual([503, expect.stringMatching(/There is no topic anew\.(spans|logs): create it again/)])
    await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME }, 1)
    // These are more messages than were read before, although the new topics begin at offset 0 again.
    const later = makeRuns(100)
    await bench.send(later)
    await until(() => bench.hasScored(later), 'scores of what is on the new topics', 60_000)
    expect(bench.lines.filter((line) => line.includes('it was deleted and created again'))).toEqual([
      expect.stringMatching(/^anew\.spans, partition 0, was replaced after it was read up to offset 150: /),
    ])
    await worker.stop()
    expect(bench.scores).toHaveLength(150)
  })

  it('fails health when topics are created again with fewer partitions, and reads them after a restart', async () => {
    await using bench = await WorkerBench.create(kafka, 'shrunk', 4)
    const before = await startWorker(bench.options())
    const runs = makeRuns(80)
    await bench.send(runs)
    await until(() => bench.hasScored(runs), 'scores', 60_000)
    const { spans, logs } = topicsOf('shrunk')
    await kafka.admin.deleteTopics({ topics: [spans, logs] })
    await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME }, 2)
    // These are more messages per partition than were read before. The producer is new: the earlier one knows four partitions.
    const later = makeRuns(200)
    await using sender = new Sender(kafka.brokers, spans)
    const send = (some: typeof later, place: number) =>
      sender.send(some.map((run) => ({ traceId: run.traceId, request: run.requests[place] })))
    for (const place of [0, 1, 2]) await send(later.slice(0, 100), place)
    await expect
      .poll(() => healthOf(before), { timeout: 30_000 })
      .toEqual([503, expect.stringContaining('shrunk.spans has 2 partitions, and had 4 when this process started')])
    const stoppingMs = performance.now()
    await before.stop()
    // It does not spend all of its shutdown time on commits to deleted partitions.
    expect(performance.now() - stoppingMs).toBeLessThan(8000)
    const after = await startWorker(bench.options())
    for (const place of [0, 1, 2]) await send(later.slice(100), place)
    await until(() => bench.hasScored(later), 'scores of all that is on the new topics', 60_000)
    expect((await healthOf(after))[0]).toBe(200)
    await after.stop()
    expect(new Set(bench.scores.map(({ attributes }) => attributes['spanscore.score.id'])).size).toBe(280)
    expect(bench.scores).toHaveLength(280)
  })

  it('scores no incomplete run after its process was frozen while others continued', async () => {
    await using bench = await WorkerBench.create(kafka, 'stopped', 2)
    const args = `--to ${bench.sink.url} --brokers ${kafka.brokers.join(',')} --group stopped --topic-prefix stopped`
    const start = () => startWorkerProcess(`${args} --settle 5 --session-timeout 4`.split(' '))
    const workers = [await start(), await start()]
    const before = makeRuns(40)
    await bench.send(before)
    await until(() => bench.hasScored(before), 'scores', 60_000)
    // All spans of each run but one have been read when the process is frozen.
    const runs = makeRuns(40)
    await bench.send(runs, [0, 2])
    await expect.poll(() => bench.messagesRead(), { timeout: 30_000 }).toBe(120 + 80)
    workers[0]?.child.kill('SIGSTOP')
    await bench.send(runs, [1])
    await until(() => bench.hasScored(runs), 'scores of the other worker', 60_000)
    await new Promise((resolve) => setTimeout(resolve, 6000))
    workers[0]?.child.kill('SIGCONT')
    await until(() => workers[0]?.lines.some((line) => line.includes('went on without')) === true, 'its return', 30_000)
    await new Promise((resolve) => setTimeout(resolve, 4000))
    for (const worker of workers) expect(await worker.stop()).toBe(0)
    expect(bench.scores.map(({ attributes }) => attributes['spanscore.revision'])).toEqual(Array(80).fill(3))
  })

  it('writes states to the partition that brokers accept no room for, and the next worker repeats nothing', async () => {
    const small = await startKafka(1, { lines: ['offset.metadata.max.bytes=64'] })
    try {
      await using bench = await WorkerBench.create(small, 'cramped')
      const options = bench.options({
        traces: { ...bench.options().traces, settleMs: 500, orphanMs: 300_000, lingerMs: 500 },
      })
      const worker = await startWorker(options)
      const complete = () =>
        bench.sink.logs.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === 'answer_present')
      // Complete and incomplete runs alternate without a pattern, so that their states need more than 64 bytes.
      const [whole, parts] = [makeRuns(200), makeRuns(200)]
      await bench.send(parts.slice(0, 1), [0])
      const mixed = [...whole.map((run) => ({ run, place: 2 })), ...parts.slice(1).map((run) => ({ run, place: 0 }))]
      await bench.sender.send(
        mixed
          .toSorted(() => Math.random() - 0.5)
          .map(({ run, place }) => ({ traceId: run.traceId, request: run.requests[place] })),
      )
      await until(() => complete().length >= 200, 'scores of the complete runs', 60_000)
      await until(() => /"longCommits":[1-9]/.test(JSON.stringify(worker.counts())), 'a long commit', 30_000)
      expect(bench.lines.filter((line) => line.includes('offset.metadata.max.bytes')).length).toBeGreaterThan(0)
      expect(bench.lines.filter((line) => line.includes('could not be committed'))).toEqual([])
      await worker.stop()
      const next = await startWorker(options)
      await bench.send(parts.slice(0, 1), [1, 2])
      await until(() => bench.hasScored(parts.slice(0, 1)), 'the score of the open run', 60_000)
      await next.stop()
      expect(complete()).toHaveLength(201)
    } finally {
      await small.close()
    }
  })

  it('warns of another group that reads the same topics', async () => {
    await using bench = await WorkerBench.create(kafka, 'groups')
    const first = await startWorker(bench.options())
    const runs = makeRuns(5)
    await bench.send(runs)
    await until(() => bench.hasScored(runs), 'scores', 60_000)
    expect(bench.lines.filter((line) => line.includes('a second time'))).toEqual([])
    const second = await startWorker(bench.options({ groupId: 'groups-by-mistake' }))
    await until(() => bench.lines.some((line) => line.includes('a second time')), 'the warning', 30_000)
    expect(bench.lines.find((line) => line.includes('a second time'))).toContain(
      'The group groups reads groups.spans, groups.logs too',
    )
    await until(() => bench.scores.length === 10, 'the same scores again', 60_000)
    // A backend that keeps one score for each id has each run once.
    expect(new Set(bench.scores.map(({ attributes }) => attributes['spanscore.score.id'])).size).toBe(5)
    await Promise.all([first.stop(), second.stop()])
  })

  it('warns when messages hold spans of several traces', async () => {
    await using bench = await WorkerBench.create(kafka, 'mixed')
    const worker = await startWorker(bench.options())
    const [one, other] = makeRuns(2)
    await bench.sender.send([{ traceId: 'none', request: toRequest([...one!.spans, ...other!.spans]) }])
    await until(() => bench.hasScored([one!, other!]), 'scores', 60_000)
    expect(bench.lines.find((line) => line.includes('several traces'))).toContain('set partition_traces_by_id: true')
    await worker.stop()
  })

  it('moves log records that it cannot read to the dead-letter topic, and waits if too many cannot be moved', async () => {
    await using bench = await WorkerBench.create(kafka, 'flood')
    const { logs, dead } = topicsOf('flood')
    const logSender = new Sender(kafka.brokers, logs)
    const poison = (count: number) =>
      logSender.send(
        Array.from({ length: count }, (_, index) => ({
          traceId: `poison-${index}`,
          // No protobuf field begins with the byte 7. The rest is incompressible, so that a single fetch does not return all of it.
          request: Buffer.concat([Buffer.from([7]), randomBytes(4000)]),
        })),
      )
    const worker = await startWorker(bench.options())
    const [run, later] = [makeRuns(1), makeRuns(1)]
    await poison(1)
    await bench.send(run)
    await until(() => bench.hasScored(run), 'the score beside it', 60_000)
    await until(() => countsOf(worker).dead === 1, 'the dead letter')
    await kafka.admin.deleteTopics({ topics: [dead] })
    // A broker takes messages for a topic until it has learnt that it was deleted.
    while ((await kafka.admin.listTopics()).includes(dead)) await new Promise((resolve) => setTimeout(resolve, 100))
    await poison(6000)
    await bench.send(later)
    await until(() => countsOf(worker).dead > 1000, 'messages that wait for the dead-letter topic', 60_000)
    await until(
      () => bench.lines.some((line) => line.includes('could not be moved to the dead-letter topic')),
      'the reason',
      30_000,
    )
    // Most of the records stay on Kafka.
    await until(() => countsOf(worker).lag > 2000, 'lag', 30_000)
    expect(countsOf(worker).dead).toBeLessThan(3000)
    await kafka.createTopics({ [dead]: {} }, 1)
    await until(() => bench.hasScored(later), 'the score behind it', 120_000)
    await until(() => countsOf(worker).dead === 6001, 'all dead letters', 60_000)
    await worker.stop()
    expect(await kafka.endOf(dead)).toBe(6000)
    await logSender.close()
  })
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ConfigResourceTypes, IncrementalAlterConfigOperationTypes } from '@platformatic/kafka'
import { afterAll, describe, expect, it } from 'vitest'

import { startWorker } from '../../src/start-worker.ts'
import { Certificates } from '../certificates.ts'
import { startFar, startProxy } from '../proxy.ts'
import { createSink } from '../sink.ts'
import type { Sink } from '../sink.ts'
import { until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import { Sender } from './sender.ts'
import { sharedKafka } from './shared-broker.ts'
import { makeRuns, WorkerBench } from './worker-bench.ts'
import { APPEND_TIME, topicsOf, workerOptions } from './worker-options.ts'
import { startWorkerProcess } from './worker-process.ts'

const kafka = sharedKafka()
let sender: Sender

afterAll(async () => {
  await sender.close()
  await kafka.close()
})

async function createTopics(name: string, partitions = 1): Promise<void> {
  const { spans, logs, dead } = topicsOf(name)
  await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME, [dead]: {} }, partitions)
  await sender?.close()
  sender = new Sender(kafka.brokers, spans)
}

/** Sends one span of each run, for each of these indexes. */
async function send(runs: readonly MadeRun[], places: readonly number[]): Promise<void> {
  for (const place of places) {
    await sender.send(runs.map((run) => ({ traceId: run.traceId, request: run.requests[place] })))
  }
}

/** The offset that a group has committed for the spans of partition 0. */
async function committedOffset(name: string): Promise<number> {
  const [group] = await kafka.admin.listConsumerGroupOffsets({ groups: [name] })
  const ofTopic = group?.topics.find((topic) => topic.name === topicsOf(name).spans)
  return Number(ofTopic?.partitions[0]?.committedOffset ?? 0n)
}

function scoresIn(sink: Sink): Sink['logs'] {
  return sink.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'tool_errors')
}

function text({ attributes }: Sink['logs'][number], name: string): string {
  return String(attributes[`spanscore.${name}`])
}

describe('a worker', () => {
  it('scores whole runs once, shares partitions with another, and hands them over when it ends', async () => {
    await createTopics('share', 4)
    await using sink = await createSink()
    const usual = workerOptions(kafka.brokers, 'share', sink.url)
    // On a busy machine, the worker takes seconds to leave. Runs wait longer than that for their agent's span.
    const options = { ...usual, traces: { ...usual.traces, orphanMs: 60_000 } }
    const first = await startWorker(options)
    await send(makeRuns(100), [0, 1, 2])
    await until(() => scoresIn(sink).length >= 100, 'scores of the first runs', 60_000)
    const second = await startWorker(options)
    const partitions = (worker: typeof first) => JSON.stringify(worker.counts()).match(/"partitions":\[([^\]]*)\]/)?.[1]
    await until(() => partitions(second)?.split(',').length === 2, 'half of the partitions', 30_000)
    expect(partitions(first)?.split(',')).toHaveLength(2)
    const ready = await fetch(`http://127.0.0.1:${second.httpPort}/ready`)
    expect(ready.status).toBe(200)
    // Runs are open while the first worker leaves. Half of their spans are sent before that, and half after it.
    const open = makeRuns(100)
    await send(open, [0, 1])
    await first.stop()
    await send(open, [2])
    await until(() => scoresIn(sink).length >= 200, 'scores of the open runs', 60_000)
    await second.stop()
    expect(scoresIn(sink)).toHaveLength(200)
    for (const log of scoresIn(sink)) expect(log.attributes['spanscore.revision']).toBe(3)
  })

  it('gives a leaf that arrives after a restart a higher revision of the same score, and repeats nothing else', async () => {
    await createTopics('late')
    await using sink = await createSink()
    const options = workerOptions(kafka.brokers, 'late', sink.url)
    const runs = makeRuns(20)
    const [first] = runs
    const before = await startWorker(options)
    await send(runs, [1, 2])
    await until(() => scoresIn(sink).length >= 20, 'scores', 60_000)
    await before.stop()
    const after = await startWorker(options)
    await send([first!], [0])
    await until(() => scoresIn(sink).length >= 21, 'the revision', 60_000)
    // Messages that were read again only as context are settled by now, too.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await after.stop()
    expect(scoresIn(sink)).toHaveLength(21)
    const ofFirst = scoresIn(sink).filter((log) => log.traceId === first?.traceId)
    expect(ofFirst.map((log) => log.attributes['spanscore.revision'])).toEqual([2, 3])
    expect(new Set(ofFirst.map((log) => log.attributes['spanscore.score.key'])).size).toBe(1)
  })

  it('leaves after a kill and late spans one id for each revision, the highest of which is that of all spans', async () => {
    await createTopics('killed')
    let killNow: ((scored: readonly string[]) => void) | undefined
    await using sink = await createSink({ onLogs: (logs) => killNow?.(logs.map(({ traceId }) => traceId)) })
    const args = `--to ${sink.url} --brokers ${kafka.brokers.join(',')} --group killed --topic-prefix killed`
    const start = () => startWorkerProcess(`${args} --settle 1 --session-timeout 4`.split(' '))
    const first = await start()
    const runs = makeRuns(100)
    // The content of this request reaches the destination, and the worker is killed before it learns of that.
    const uncommitted = new Promise<ReadonlySet<string>>((resolve) => {
      killNow = (scored) => {
        if (new Set(scored).size < 2) return
        first.child.kill('SIGKILL')
        killNow = undefined
        resolve(new Set(scored))
      }
    })
    await send(runs, [1, 2])
    const inRequest = await uncommitted
    const killed = runs.filter(({ traceId }) => inRequest.has(traceId))
    // For one half of them, the late span arrives before another worker scores them. For the other half, it arrives afterwards.
    const early = killed.filter((_, index) => index % 2 === 0)
    const late = killed.filter((_, index) => index % 2 === 1)
    await send(early, [0])
    const second = await start()
    const revisionsOf = ({ traceId }: MadeRun) =>
      scoresIn(sink).flatMap((log) => (log.traceId === traceId ? [Number(log.attributes['spanscore.revision'])] : []))
    await until(() => late.every((run) => revisionsOf(run).length === 2), 'the same scores again', 60_000)
    await send(late, [0])
    await until(() => killed.every((run) => revisionsOf(run).at(-1) === 3), 'the highest revisions', 60_000)
    expect(await second.stop()).toBe(0)
    for (const run of early) expect(revisionsOf(run)).toEqual([2, 3])
    for (const run of late) expect(revisionsOf(run)).toEqual([2, 2, 3])
    const byRevision = Map.groupBy(scoresIn(sink), (log) => `${text(log, 'score.key')} ${text(log, 'revision')}`)
    const ids = [...byRevision.values()].map((scores) => new Set(scores.map((log) => text(log, 'score.id'))))
    expect(ids.every(({ size }) => size === 1)).toBe(true)
    expect(new Set(ids.flatMap((each) => [...each])).size).toBe(ids.length)
    // There is exactly one score for each run and revision.
    expect(new Set(scoresIn(sink).map((log) => text(log, 'score.key'))).size).toBe(runs.length)
    expect(ids).toHaveLength(runs.length + killed.length)
  })

  it('moves an unreadable message to the dead-letter topic, and continues within a second', async () => {
    await createTopics('poison')
    await using sink = await createSink()
    const worker = await startWorker(workerOptions(kafka.brokers, 'poison', sink.url))
    /** Milliseconds until a run that is sent now is scored. They include half a second in which no span of a run may arrive. */
    const scoredAfterMs = async () => {
      const [run] = makeRuns(1)
      const sentMs = performance.now()
      await send([run!], [0, 1, 2])
      await until(() => scoresIn(sink).some(({ traceId }) => traceId === run!.traceId), 'the score', 60_000)
      return performance.now() - sentMs
    }
    await scoredAfterMs()
    const usualMs = Math.max(await scoredAfterMs(), await scoredAfterMs())
    const poisonedMs = performance.now()
    await sender.send([{ traceId: 'poison', request: '\u0001 this is no OTLP request' }])
    await scoredAfterMs()
    const behindMs = performance.now() - poisonedMs
    console.info(`a score after ${behindMs.toFixed(0)} ms behind the message, after ${usualMs.toFixed(0)} ms without`)
    expect(behindMs - usualMs).toBeLessThan(1000)
    await until(() => JSON.stringify(worker.counts()).includes('"dead":1'), 'the dead letter')
    await worker.stop()
    const { dead } = topicsOf('poison')
    expect(await kafka.endOf(dead)).toBe(1)
  })

  it('commits 25,000 irregular states behind an open run, which the next worker takes over', async () => {
    await createTopics('irregular')
    await using sink = await createSink()
    const lines: string[] = []
    const options = workerOptions(kafka.brokers, 'irregular', sink.url, {
      // The waits are long, so that open runs stay open.
      traces: { ...workerOptions([], '', sink.url).traces, settleMs: 4000, orphanMs: 300_000, lingerMs: 500 },
      report: (line) => lines.push(line),
    })
    const worker = await startWorker(options)
    const [pinned] = makeRuns(1)
    // The outermost span is missing, so that the run waits.
    await send([pinned!], [0])
    const complete = () => sink.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'answer_present')
    // Runs that are complete and runs that are not alternate without a pattern, so that their states need much room.
    for (let round = 0; round < 50; round++) {
      const [whole, parts] = [makeRuns(250), makeRuns(250)]
      const mixed = [...whole.map((run) => [run, 2] as const), ...parts.map((run) => [run, 0] as const)]
      const shuffled = mixed.toSorted(() => Math.random() - 0.5)
      await sender.send(shuffled.map(([run, place]) => ({ traceId: run.traceId, request: run.requests[place] })))
    }
    await until(() => complete().length >= 12_500, 'scores of the complete runs', 240_000)
    await until(() => /"longCommits":[1-9]/.test(JSON.stringify(worker.counts())), 'a long commit', 60_000)
    await worker.stop()
    expect(await committedOffset('irregular')).toBe(0)
    // A new owner knows which runs were scored, and scores the open one when it is complete.
    const next = await startWorker(options)
    const beforeCount = sink.logs.length
    await send([pinned!], [1, 2])
    await until(
      () => scoresIn(sink).some((log) => log.traceId === pinned?.traceId),
      'the score of the open run',
      60_000,
    )
    await next.stop()
    const afterwards = sink.logs.slice(beforeCount)
    expect(new Set(afterwards.map(({ traceId }) => traceId))).toEqual(new Set([pinned?.traceId]))
    expect(scoresIn(sink).at(-1)?.attributes['spanscore.revision']).toBe(3)
    expect(lines.filter((line) => line.includes('could not'))).toEqual([])
  })

  it('counts messages that the broker dropped before they were read, and continues', async () => {
    await createTopics('retention')
    await using sink = await createSink()
    const lines: string[] = []
    const options = workerOptions(kafka.brokers, 'retention', sink.url, { report: (line) => lines.push(line) })
    const [gone, kept] = makeRuns(2)
    await send([gone!], [0, 1, 2])
    const { spans } = topicsOf('retention')
    await kafka.admin.deleteRecords({ topics: [{ name: spans, partitions: [{ partition: 0, offset: 3n }] }] })
    const worker = await startWorker(options)
    await send([kept!], [0, 1, 2])
    await until(() => scoresIn(sink).length === 1, 'the score of what is left', 30_000)
    expect(JSON.stringify(worker.counts())).toContain('"lostToRetention":3')
    expect(lines.join('\n')).toContain('3 messages of retention.spans, partition 0, were dropped')
    await worker.stop()
  })

  it('keeps everything while the destination is unavailable for a minute, and does not restart', async () => {
    await using bench = await WorkerBench.create(kafka, 'away', 2)
    const { sink } = bench
    const worker = await startWorker(bench.options())
    const runs: MadeRun[] = []
    const sendMore = async () => {
      const more = makeRuns(20)
      runs.push(...more)
      await bench.send(more)
    }
    await sendMore()
    await until(() => bench.hasScored(runs), 'the first scores', 60_000)
    sink.status = 0
    const awayMs = performance.now()
    while (performance.now() - awayMs < 60_000) {
      await sendMore()
      expect((await fetch(`http://127.0.0.1:${worker.httpPort}/health`)).status).toBe(200)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    expect(bench.scores).toHaveLength(20)
    const ready = await fetch(`http://127.0.0.1:${worker.httpPort}/ready`)
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('destination')])
    sink.status = 200
    await until(() => bench.hasScored(runs), 'all scores', 60_000)
    await worker.stop()
    // A worker that lost its partitions said so.
    console.info(`${runs.length} runs, ${bench.scores.length} scores`, bench.lines)
    expect(bench.scores).toHaveLength(runs.length)
  })

  it('warns when another worker of the group has another configuration', async () => {
    await createTopics('differing', 2)
    await using sink = await createSink()
    const lines: string[] = []
    const options = (orphanMs: number) =>
      workerOptions(kafka.brokers, 'differing', sink.url, {
        traces: { ...workerOptions([], '', '').traces, orphanMs },
        report: (line) => lines.push(line),
      })
    const warnings = () => lines.filter((line) => line.includes('another configuration than this one'))
    const workers = [await startWorker(options(5000)), await startWorker(options(5000))]
    const isWithout = (index: number) => JSON.stringify(workers[index]?.counts()).includes('"partitions":[]')
    await until(() => !isWithout(0) && !isWithout(1), 'a partition for each of two workers', 30_000)
    expect(warnings()).toEqual([])
    workers.push(await startWorker(options(6000)))
    await until(() => warnings().length > 0, 'the warning', 30_000)
    expect(warnings()[0]).toMatch(/^[12] of 3 workers have another configuration than this one: /)
    for (const worker of workers) await worker.stop()
  })

  it('is not ready, and says why, while a topic that was changed has the times of senders', async () => {
    await createTopics('changed')
    await using sink = await createSink()
    const lines: string[] = []
    const report = (line: string) => void lines.push(line)
    const worker = await startWorker(workerOptions(kafka.brokers, 'changed', sink.url, { report }))
    const setTimes = (value: string) =>
      kafka.admin.incrementalAlterConfigs({
        resources: [
          {
            resourceType: ConfigResourceTypes.TOPIC,
            resourceName: topicsOf('changed').spans,
            configs: [
              { name: 'message.timestamp.type', configOperation: IncrementalAlterConfigOperationTypes.SET, value },
            ],
          },
        ],
      })
    const expectReady = async (expected: unknown) => {
      await expect
        .poll(
          async () => {
            await send(makeRuns(1), [0, 1, 2])
            const { status } = await fetch(`http://127.0.0.1:${worker.httpPort}/health`)
            const ready = await fetch(`http://127.0.0.1:${worker.httpPort}/ready`)
            return [status, ready.status, await ready.text()]
          },
          { timeout: 60_000, interval: 500 },
        )
        .toEqual(expected)
    }
    await expectReady([200, 200, expect.any(String)])
    await setTimes('CreateTime')
    await expectReady([200, 503, expect.stringContaining('topic changed.spans have the senders')])
    await setTimes('LogAppendTime')
    await expectReady([200, 200, expect.any(String)])
    await worker.stop()
    expect(lines.filter((line) => line.includes('senders'))).toHaveLength(1)
  })

  it('reports what is wrong with topics', async () => {
    const options = (name: string) => workerOptions(kafka.brokers, name, 'http://127.0.0.1:9')
    await expect(startWorker(options('nowhere'))).rejects.toThrow(
      'Expected the topics nowhere.spans, nowhere.logs, nowhere.dead, found no nowhere.spans, nowhere.logs, nowhere.dead.',
    )
    const { spans, logs, dead } = topicsOf('clock')
    await kafka.createTopics({ [spans]: {}, [logs]: APPEND_TIME, [dead]: {} }, 1)
    await expect(startWorker(options('clock'))).rejects.toThrow(
      'Expected message.timestamp.type=LogAppendTime of the topic clock.spans, got CreateTime',
    )
    for (const [name, setting, value, expected] of [
      ['compacted', 'cleanup.policy', 'compact,delete', 'delete'],
      ['small', 'max.message.bytes', '260000', '1000000 or more'],
    ] as const) {
      const topics = topicsOf(name)
      await kafka.createTopics(
        { [topics.spans]: APPEND_TIME, [topics.logs]: { ...APPEND_TIME, [setting]: value }, [topics.dead]: {} },
        1,
      )
      await expect(startWorker(options(name))).rejects.toThrow(
        `Expected ${setting}=${expected} of the topic ${topics.logs}, got ${value}`,
      )
    }
    const uneven = topicsOf('uneven')
    await kafka.createTopics({ [uneven.spans]: APPEND_TIME, [uneven.dead]: {} }, 2)
    await kafka.createTopics({ [uneven.logs]: APPEND_TIME }, 3)
    await expect(startWorker(options('uneven'))).rejects.toThrow(
      'Expected as many partitions of uneven.logs as of uneven.spans, got 3 and 2',
    )
  })

  it('sends scores and questions to judges through a proxy, and reaches brokers without it', async () => {
    await createTopics('proxied')
    const folder = mkdtempSync(join(tmpdir(), 'spanscore-proxied-'))
    const certificates = new Certificates(folder)
    certificates.authority('company')
    certificates.certificate('far', 'company')
    const tls = { cert: certificates.read('far.crt'), key: certificates.read('far.key') }
    await using scores = await startFar(tls)
    await using judge = await startFar(tls, 400)
    await using proxy = await startProxy({ 'scores.test': scores.port, 'judge.test': judge.port })
    const config = join(folder, 'judge.yaml')
    writeFileSync(
      config,
      'scorers: [tool_errors, { name: prompt_alignment, model: { id: a/b, url: "https://judge.test/v1" } }]\n',
    )
    const args = `--to https://scores.test --to-ca ${certificates.path('company.crt')} --config ${config} --settle 1`
    const worker = await startWorkerProcess(
      `${args} --brokers ${kafka.brokers.join(',')} --group proxied --topic-prefix proxied`.split(' '),
      { HTTPS_PROXY: proxy.url, NO_PROXY: '', NODE_EXTRA_CA_CERTS: certificates.path('company.crt') },
    )
    await send(makeRuns(1), [0, 1, 2])
    await until(() => scores.paths.includes('/v1/logs') && judge.paths.length > 0, 'scores and a question', 60_000)
    await worker.stop()
    expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT scores.test:443', 'CONNECT judge.test:443']))
    rmSync(folder, { recursive: true })
  })
})

/** The topics for jobs and dead letters have one replica, and one of their brokers is away. */
import { expect, it } from 'vitest'

import { askForOffsets } from '../../src/kafka/end-offsets.ts'
import { clientOptions, KafkaClient } from '../../src/kafka/kafka-client.ts'
import { startJudgeWorker } from '../../src/start-judge-worker.ts'
import type { RunningWorker } from '../../src/worker-process.ts'
import { createSink } from '../sink.ts'
import { until } from '../traces.ts'
import { countsOf, judgedIn, jobsTopic, makeRuns, polite, useJudgeBench } from './judge-bench.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { startPrometheus } from './prometheus.ts'
import { Sender } from './sender.ts'
import { APPEND_TIME, topicsOf } from './worker-options.ts'

const NAME = 'unled'
const PARTITIONS = 3
const { spans, logs, dead } = topicsOf(NAME)

let kafka: KafkaCluster
const bench = useJudgeBench(async () => {
  kafka = await startKafka(3)
  return kafka
})

async function answerOf(worker: RunningWorker, path: 'ready' | 'health'): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${worker.httpPort}/${path}`)
  return [response.status, await response.text()]
}

/** The messages on the partitions of a topic that have a leader, and the number of these partitions. */
async function led(topic: string): Promise<{ readonly partitions: number; readonly messages: number }> {
  const client = new KafkaClient(await clientOptions({ brokers: kafka.brokers, clientId: 'test' }))
  const asked = Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition }))
  const answers = await Promise.allSettled(await askForOffsets(client, 'end', asked))
  await client.close()
  const ends = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  return { partitions: ends.length, messages: ends.reduce((sum, { offset }) => sum + offset, 0) }
}

it('writes jobs and dead letters to the partitions that have a leader, and lets other jobs wait, visibly', async () => {
  await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME }, 1)
  await kafka.createTopics({ [dead]: {}, [jobsTopic(NAME)]: {} }, PARTITIONS, 1)
  await using prometheus = await startPrometheus()
  await using sink = await createSink({ metricsTo: prometheus.metricsUrl })
  bench.answer = (request) => polite(request)
  const config = bench.configure(NAME)
  // The coordinator cannot write for some seconds when a broker is killed.
  const patient = { sessionTimeoutMs: 30_000 }
  const worker = await bench.startWriter(NAME, sink, config, patient)
  const judge = await startJudgeWorker(bench.options(NAME, sink.url, config, patient))
  const isJudged = (count: number) =>
    until(() => new Set(judgedIn(sink).map(({ traceId }) => traceId)).size === count, `${count} scores`, 90_000)
  await bench.send(NAME, makeRuns(5))
  await isJudged(5)

  const coordinators = await Promise.all([NAME, `${NAME}.judges`].map((group) => kafka.coordinatorOf(group)))
  const away = [0, 1, 2].find((index) => !coordinators.includes(index))!
  await kafka.kill(away)
  await bench.send(NAME, makeRuns(20))
  const readiness = async () => {
    expect((await answerOf(worker, 'health'))[0]).toBe(200)
    return answerOf(worker, 'ready')
  }
  await expect
    .poll(readiness, { timeout: 60_000 })
    .toEqual([
      503,
      expect.stringMatching(/Jobs for judges could not be written to unled\.jobs, partition \d, for \d+ s/),
    ])
  // All but those of one partition are written and judged.
  const written = Number(countsOf(worker).jobs['written'])
  expect(written).toBeGreaterThan(5)
  expect(written).toBeLessThan(25)
  await isJudged(written)

  // A process that starts now finds its topics, and waits like the others.
  const second = await bench.startWriter(NAME, sink, config, { ...patient, groupId: 'second' })
  expect((await answerOf(second, 'health'))[0]).toBe(200)
  await second.stop()

  const sender = new Sender(kafka.brokers, spans)
  await sender.send([{ traceId: 'poison', request: '\u0001 this is no OTLP request' }])
  await sender.close()
  await expect.poll(() => led(dead), { timeout: 60_000 }).toEqual({ partitions: PARTITIONS - 1, messages: 1 })
  const failing = async () => [
    ...(await prometheus.query('max by (job) (spanscore_worker_writes_failing_seconds)', 'job')).values(),
  ]
  await expect.poll(failing, { timeout: 30_000 }).toEqual([expect.toSatisfy((seconds) => seconds >= 10)])

  await kafka.start(away)
  await isJudged(25)
  await expect.poll(() => led(dead), { timeout: 60_000 }).toEqual({ partitions: PARTITIONS, messages: 1 })
  for (const each of [worker, judge]) {
    await expect.poll(() => answerOf(each, 'ready'), { timeout: 60_000 }).toEqual([200, expect.any(String)])
  }
  expect(countsOf(worker).jobs).toMatchObject({ waitingBytes: 0 })
  await expect.poll(failing, { timeout: 30_000 }).toEqual([0])
  await Promise.all([worker.stop(), judge.stop()])
})

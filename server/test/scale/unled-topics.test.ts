/** The topic for dead letters has one replica, and one of its brokers is away. */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { askForOffsets } from '../../src/kafka/end-offsets.ts'
import { clientOptions, KafkaClient } from '../../src/kafka/kafka-client.ts'
import { startWorker } from '../../src/start-worker.ts'
import type { RunningWorker } from '../../src/start-worker.ts'
import { createSink } from '../sink.ts'
import { makeRun, until } from '../traces.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { Sender } from './sender.ts'
import { APPEND_TIME, topicsOf, workerOptions } from './worker-options.ts'

const NAME = 'unled'
const PARTITIONS = 3
const { spans, logs, dead } = topicsOf(NAME)

let kafka: KafkaCluster

beforeAll(async () => {
  kafka = await startKafka(3)
})

afterAll(() => kafka.close())

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

it('writes dead letters to the partitions that have a leader, and a worker can start meanwhile', async () => {
  await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME }, 1)
  await kafka.createTopics({ [dead]: {} }, PARTITIONS, 1)
  await using sink = await createSink()
  // The coordinator cannot write for some seconds when a broker is killed.
  const patient = { sessionTimeoutMs: 30_000 }
  const worker = await startWorker(workerOptions(kafka.brokers, NAME, sink.url, patient))
  const sender = new Sender(kafka.brokers, spans)
  const score = async () => {
    const run = makeRun()
    await sender.send(run.requests.map((request) => ({ traceId: run.traceId, request })))
    await until(() => sink.logs.some(({ traceId }) => traceId === run.traceId), 'its scores', 90_000)
  }
  await score()

  const coordinator = await kafka.coordinatorOf(NAME)
  const away = [0, 1, 2].find((index) => index !== coordinator)!
  await kafka.kill(away)
  await sender.send([{ traceId: 'poison', request: '\u0001 this is no OTLP request' }])
  await expect.poll(() => led(dead), { timeout: 60_000 }).toEqual({ partitions: PARTITIONS - 1, messages: 1 })
  await score()
  expect((await answerOf(worker, 'health'))[0]).toBe(200)

  // A process that starts now finds its topics.
  const second = await startWorker(workerOptions(kafka.brokers, NAME, sink.url, { ...patient, groupId: 'second' }))
  expect((await answerOf(second, 'health'))[0]).toBe(200)
  await second.stop()

  await kafka.start(away)
  await expect.poll(() => led(dead), { timeout: 60_000 }).toEqual({ partitions: PARTITIONS, messages: 1 })
  await expect.poll(() => answerOf(worker, 'ready'), { timeout: 60_000 }).toEqual([200, expect.any(String)])
  await sender.close()
  await worker.stop()
})

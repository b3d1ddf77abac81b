/**
 * Workers with three brokers that use TLS and require a password. Their users have only the permissions that docs/scale.md lists. A broker
 * is killed meanwhile.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { until } from '../traces.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { allow } from './rights.ts'
import { SecureKafka } from './secure-kafka.ts'
import { makeRuns, WorkerBench } from './worker-bench.ts'
import { startWorkerProcess } from './worker-process.ts'

const RUNS = 240

const secure = new SecureKafka()
let kafka: KafkaCluster

beforeAll(async () => {
  kafka = await secure.withPasswords(3, ['PLAIN', 'SCRAM-SHA-512'], false)
})

afterAll(async () => {
  await kafka.close()
  secure.remove()
})

it('score each run with the documented permissions while a broker is killed', async () => {
  await using bench = await WorkerBench.create(kafka, 'spanscore', 3)
  for (const topic of ['spanscore.spans', 'spanscore.logs']) {
    await allow(kafka, 'worker', ['TOPIC', topic], ['READ', 'WRITE', 'DESCRIBE_CONFIGS'])
  }
  await allow(kafka, 'worker', ['TOPIC', 'spanscore.dead'], ['WRITE'])
  await allow(kafka, 'worker', ['GROUP', 'spanscore'], ['READ'])
  const start = () =>
    startWorkerProcess(
      [
        ...`--to ${bench.sink.url} --brokers ${kafka.brokers.join(',')} --settle 1 --session-timeout 6`.split(' '),
        ...`--kafka-tls --kafka-ca ${secure.caFile} --kafka-sasl SCRAM-SHA-512 --kafka-user worker`.split(' '),
      ],
      { SPANSCORE_KAFKA_PASSWORD: 'scram-secret' },
    )
  const workers = [await start(), await start()]
  const runs = makeRuns(RUNS)
  const [first, second] = [runs.slice(0, RUNS / 2), runs.slice(RUNS / 2)]
  await bench.send(first)
  await until(() => bench.scores.length > 20, 'the first scores', 60_000)
  const leader = await kafka.leaderOf('spanscore.spans', 0)
  await kafka.kill(leader)
  await bench.send(second)
  await until(() => bench.hasScored(runs), 'a score for every run', 60_000)
  await kafka.start(leader)
  for (const worker of workers) expect(await worker.stop()).toBe(0)
  expect(new Set(bench.scores.map(({ attributes }) => attributes['spanscore.score.id'])).size).toBe(RUNS)
})

/**
 * Workers and judge workers with three brokers that use TLS and require a password. Their users have only the permissions that
 * docs/scale.md lists. A broker is killed while judges are asked.
 */
import { afterAll, expect, it } from 'vitest'

import { createSink } from '../sink.ts'
import { until } from '../traces.ts'
import { CONCURRENCY, judgedIn, makeRuns, polite, townsOf, useJudgeBench } from './judge-bench.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { allow } from './rights.ts'
import { SecureKafka } from './secure-kafka.ts'
import { startWorkerProcess } from './worker-process.ts'

const RUNS = 240

const secure = new SecureKafka()
let kafka: KafkaCluster
const bench = useJudgeBench(
  async () => (kafka = await secure.withPasswords(3, ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'], false)),
)

afterAll(() => secure.remove())

it('judge each run with the documented permissions while a broker is killed', async () => {
  await bench.createTopics('spanscore', 3)
  for (const topic of ['spanscore.spans', 'spanscore.logs']) {
    await allow(kafka, 'worker', ['TOPIC', topic], ['READ', 'WRITE', 'DESCRIBE_CONFIGS'])
  }
  await allow(kafka, 'worker', ['TOPIC', 'spanscore.jobs'], ['WRITE', 'DESCRIBE_CONFIGS'])
  await allow(kafka, 'worker', ['TOPIC', 'spanscore.dead'], ['WRITE'])
  await allow(kafka, 'worker', ['GROUP', 'spanscore'], ['READ'])
  await allow(kafka, 'judge', ['TOPIC', 'spanscore.jobs'], ['READ', 'DESCRIBE_CONFIGS'])
  await allow(kafka, 'judge', ['TOPIC', 'spanscore.dead'], ['WRITE'])
  await allow(kafka, 'judge', ['GROUP', 'spanscore.judges'], ['READ'])

  await using sink = await createSink()
  bench.answer = (request) => polite(request, { delayMs: 200 })
  const start = (user: string, mechanism: string, password: string, more: string) =>
    startWorkerProcess(
      [
        ...`--to ${sink.url} --brokers ${kafka.brokers.join(',')} --config ${bench.configure('secure')}`.split(' '),
        ...`--kafka-tls --kafka-ca ${secure.caFile} --kafka-sasl ${mechanism} --kafka-user ${user}`.split(' '),
        ...`--settle 1 --session-timeout 6 ${more}`.split(' '),
      ],
      { SPANSCORE_KAFKA_PASSWORD: password },
    )
  const worker = await start('worker', 'SCRAM-SHA-512', 'scram-secret', '--judge-jobs')
  const judges = [
    await start('judge', 'SCRAM-SHA-256', 'judge-secret', '--role judge'),
    await start('judge', 'SCRAM-SHA-256', 'judge-secret', '--role judge'),
  ]
  const runs = makeRuns(RUNS)
  await bench.send('spanscore', runs.slice(0, RUNS / 2))
  await until(() => judgedIn(sink).length > 20, 'the first scores', 60_000)
  const leader = await kafka.leaderOf('spanscore.jobs', 0)
  await kafka.kill(leader)
  const killedMs = performance.now()
  await bench.send('spanscore', runs.slice(RUNS / 2))
  const judged = () => new Set(judgedIn(sink).map(({ traceId }) => traceId))
  await until(() => judged().size === RUNS, 'a score for every run', 60_000)
  console.info(`all were judged ${((performance.now() - killedMs) / 1000).toFixed(1)} s after a broker was killed`)
  await kafka.start(leader)
  for (const each of [worker, ...judges]) expect(await each.stop()).toBe(0)
  const calls = townsOf(bench.requests)
  const ids = new Set(judgedIn(sink).map(({ attributes }) => attributes['spanscore.score.id']))
  console.info(`${calls.length} calls for ${new Set(calls).size} runs, ${judgedIn(sink).length} scores`)
  expect(ids.size).toBe(RUNS)
  expect(calls.length - new Set(calls).size).toBeLessThanOrEqual(judges.length * 2 * CONCURRENCY)
})

/** Permissions that are revoked from running workers and granted again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startWorker } from '../../src/start-worker.ts'
import type { RunningWorker } from '../../src/start-worker.ts'
import { until } from '../traces.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { deny } from './rights.ts'
import { SecureKafka } from './secure-kafka.ts'
import { makeRuns, WorkerBench } from './worker-bench.ts'
import { topicsOf } from './worker-options.ts'

const secure = new SecureKafka()
let kafka: KafkaCluster

beforeAll(async () => {
  kafka = await secure.withPasswords(1, ['PLAIN'], true)
})

afterAll(async () => {
  await kafka.close()
  secure.remove()
})

const access = () => ({
  kafka: {
    brokers: kafka.brokers,
    clientId: 'test',
    tls: { caFile: secure.caFile },
    sasl: { mechanism: 'PLAIN', username: 'worker', password: 'worker-secret' },
  } as const,
})

async function answerOf(worker: RunningWorker, path: 'ready' | 'health'): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${worker.httpPort}/${path}`)
  return [response.status, await response.text()]
}

async function isReady(worker: RunningWorker): Promise<void> {
  await expect.poll(() => answerOf(worker, 'ready'), { timeout: 30_000 }).toEqual([200, expect.any(String)])
}

async function saysAtReadiness(worker: RunningWorker, what: string): Promise<void> {
  await expect.poll(() => answerOf(worker, 'ready'), { timeout: 30_000 }).toEqual([503, expect.stringContaining(what)])
}

describe('a worker', () => {
  it.each([
    ['READ', 'spans'],
    ['ALL', 'logs'],
  ] as const)(
    'reports that it may not %s the topic of %s, and continues when it may again',
    async (operation, which) => {
      const name = `no-${which}`
      await using bench = await WorkerBench.create(kafka, name)
      const worker = await startWorker(bench.options(access()))
      const [before, meanwhile] = [makeRuns(5), makeRuns(5)]
      await bench.send(before)
      await until(() => bench.hasScored(before), 'scores', 60_000)
      await isReady(worker)
      const topic = topicsOf(name)[which]
      const giveBack = await deny(kafka, 'worker', ['TOPIC', topic], operation)
      const what = `The brokers do not let this user read the topic ${topic}: give it READ on that topic.`
      await saysAtReadiness(worker, what)
      expect(bench.lines.join('\n')).toContain(what)
      await bench.send(meanwhile)
      await giveBack()
      await until(() => bench.hasScored(meanwhile), 'scores of what came meanwhile', 60_000)
      await isReady(worker)
      await worker.stop()
      expect(bench.scores).toHaveLength(10)
    },
  )

  it('does not request a restart, which would not help, if it may not read for longer than half a minute', async () => {
    await using bench = await WorkerBench.create(kafka, 'no-read')
    const worker = await startWorker(bench.options(access()))
    const [first] = makeRuns(1)
    await bench.send([first!])
    await until(() => bench.hasScored([first!]), 'the scores', 60_000)
    const { spans } = topicsOf('no-read')
    const giveBack = await deny(kafka, 'worker', ['TOPIC', spans], 'READ')
    const deniedMs = performance.now()
    // A request that was already waiting at the broker is still allowed, and may return one more run. Another run always waits.
    const runs = [first!]
    while (performance.now() - deniedMs < 40_000) {
      const [run] = makeRuns(1)
      runs.push(run!)
      await bench.send([run!])
      expect((await answerOf(worker, 'health'))[0]).toBe(200)
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    expect(bench.hasScored(runs)).toBe(false)
    await saysAtReadiness(worker, `The brokers do not let this user read the topic ${spans}: give it READ`)
    await giveBack()
    await until(() => bench.hasScored(runs), 'the scores of all that waited', 60_000)
    expect((await answerOf(worker, 'health'))[0]).toBe(200)
    await isReady(worker)
    await worker.stop()
    expect(bench.scores).toHaveLength(runs.length)
  }, 180_000)

  it('reports that it may not write dead letters, continues to score, and writes them when it may again', async () => {
    await using bench = await WorkerBench.create(kafka, 'no-dead')
    const worker = await startWorker(bench.options(access()))
    const { dead } = topicsOf('no-dead')
    const giveBack = await deny(kafka, 'worker', ['TOPIC', dead], 'WRITE')
    await bench.sender.send([{ traceId: 'poison', request: '\u0001 this is no OTLP request' }])
    await saysAtReadiness(worker, `The brokers do not let this user write to the topic ${dead}: give it WRITE`)
    const runs = makeRuns(5)
    await bench.send(runs)
    await until(() => bench.hasScored(runs), 'scores beside it', 60_000)
    expect(await kafka.endOf(dead)).toBe(0)
    await giveBack()
    await expect.poll(() => kafka.endOf(dead), { timeout: 30_000 }).toBe(1)
    await isReady(worker)
    await worker.stop()
    expect(bench.scores).toHaveLength(5)
  })

  it('reports that it may not be a member of its group, and continues when it may again', async () => {
    await using bench = await WorkerBench.create(kafka, 'no-group')
    const worker = await startWorker(bench.options(access()))
    const [before, meanwhile] = [makeRuns(5), makeRuns(5)]
    await bench.send(before)
    await until(() => bench.hasScored(before), 'scores', 60_000)
    const giveBack = await deny(kafka, 'worker', ['GROUP', 'no-group'], 'READ')
    await saysAtReadiness(worker, 'The brokers do not let this user be a member of the group no-group: give it READ')
    await bench.send(meanwhile)
    await giveBack()
    await until(() => bench.hasScored(meanwhile), 'scores of what came meanwhile', 60_000)
    await isReady(worker)
    await worker.stop()
    expect(new Set(bench.scores.map(({ attributes }) => attributes['spanscore.score.id'])).size).toBe(10)
  })
})

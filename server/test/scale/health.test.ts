/** The answers of `/health` and `/ready` while brokers or a worker have a fault. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startWorker } from '../../src/start-worker.ts'
import type { RunningWorker } from '../../src/start-worker.ts'
import { until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import { FetchGate } from './fetch-gate.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { makeRuns, WorkerBench } from './worker-bench.ts'
import { workerOptions } from './worker-options.ts'

/** A worker is stuck after this time without progress, if nothing outside of it is the reason. */
const STUCK_MS = 30_000

type Answer = readonly [status: number, text: string]

async function answerOf(worker: RunningWorker, path: 'ready' | 'health'): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${worker.httpPort}/${path}`)
  return [response.status, await response.text()]
}

function countsOf(worker: RunningWorker): { worker: { lag: number }; outbox: { waiting: number } } {
  return JSON.parse(JSON.stringify(worker.counts()))
}

describe('with a broker that answers everything but requests for records', () => {
  const gate = new FetchGate()
  let kafka: KafkaCluster

  beforeAll(async () => {
    kafka = await startKafka(1, { reachAt: (port) => gate.open(port) })
  })

  afterAll(async () => {
    await kafka.close()
    gate[Symbol.dispose]()
  })

  it('fails after half a minute in which nothing was read, and recovers when something is read', async () => {
    await using bench = await WorkerBench.create(kafka, 'stuck')
    const worker = await startWorker(bench.options())
    const [before, waiting] = [makeRuns(5), makeRuns(5)]
    await bench.send(before)
    await until(() => bench.hasScored(before), 'scores', 60_000)
    gate.shut()
    const shutMs = performance.now()
    // A request that the broker has already received may still return these messages. Later ones wait.
    await bench.send(waiting)
    await until(() => gate.swallowed > 0, 'a request that is not answered')
    const behind = makeRuns(5)
    await bench.send(behind)
    await expect
      .poll(() => answerOf(worker, 'health'), { timeout: 60_000, interval: 500 })
      .toEqual([503, expect.stringMatching(/Nothing was read from partition 0 for \d+ s although \d+ messages wait\./)])
    const failedAfterMs = performance.now() - shutMs
    console.info(`health failed after ${(failedAfterMs / 1000).toFixed(1)} s`)
    expect(failedAfterMs).toBeGreaterThan(STUCK_MS - 1000)
    expect(bench.hasScored(behind)).toBe(false)
    gate.reopen()
    await until(() => bench.hasScored([...waiting, ...behind]), 'the scores of all that waited', 60_000)
    expect((await answerOf(worker, 'health'))[0]).toBe(200)
    expect((await answerOf(worker, 'ready'))[0]).toBe(200)
    await worker.stop()
    expect(bench.scores).toHaveLength(15)
  })
})

describe('with three brokers, each of which has some partitions alone', () => {
  let kafka: KafkaCluster

  beforeAll(async () => {
    kafka = await startKafka(3)
  })

  afterAll(async () => {
    await kafka.close()
  })

  it('stays healthy while one of them is unavailable: its partitions wait, and the others are scored', async () => {
    await using bench = await WorkerBench.create(kafka, 'alone', 6, 1)
    const { traces } = workerOptions([], '', '')
    // The coordinator cannot write for some seconds when a broker is killed. A member that it removes would forget what waits.
    const options = { sessionTimeoutMs: 30_000, traces: { ...traces, orphanMs: 120_000 } }
    const worker = await startWorker(bench.options(options))
    const first = makeRuns(300)
    const later: MadeRun[] = []
    // While the destination is unavailable, messages wait on all partitions, and the worker knows that.
    bench.sink.status = 0
    await bench.send(first)
    await until(() => countsOf(worker).outbox.waiting >= 200, 'scores that wait', 60_000)
    while (countsOf(worker).worker.lag < 600) {
      const more = makeRuns(20)
      later.push(...more)
      await bench.send(more)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    // Each broker leads two of the six partitions.
    const coordinator = await kafka.coordinatorOf('alone')
    const away = [0, 1, 2].find((index) => index !== coordinator)!
    await kafka.kill(away)
    bench.sink.status = 200
    const awayMs = performance.now()
    const scored = () => new Set(bench.scores.map(({ traceId }) => traceId))
    const laterScored = () => later.filter(({ traceId }) => scored().has(traceId)).length
    let ready: Answer = [200, '']
    while (performance.now() - awayMs < STUCK_MS + 15_000) {
      expect(await answerOf(worker, 'health')).toEqual([200, expect.any(String)])
      ready = await answerOf(worker, 'ready')
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    console.info(`${laterScored()} of ${later.length} runs were scored while broker ${away} was away`)
    expect(laterScored()).toBeGreaterThan(0)
    expect(laterScored()).toBeLessThan(later.length)
    expect(ready).toEqual([503, expect.stringMatching(/Partition [\d, ]+ cannot be read: no broker that leads it/)])
    expect(countsOf(worker).worker.lag).toBeGreaterThan(0)
    await kafka.start(away)
    await until(() => bench.hasScored([...first, ...later]), 'the scores of all that waited', 60_000)
    await expect.poll(() => answerOf(worker, 'ready'), { timeout: 30_000 }).toEqual([200, expect.any(String)])
    expect((await answerOf(worker, 'health'))[0]).toBe(200)
    await worker.stop()
    expect(new Set(bench.scores.map(({ attributes }) => attributes['spanscore.score.id'])).size).toBe(
      first.length + later.length,
    )
  })
})

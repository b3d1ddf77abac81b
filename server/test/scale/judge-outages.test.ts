/** Judge workers whose broker or provider is unavailable. */
import { describe, expect, it } from 'vitest'

import { startJudgeWorker } from '../../src/start-judge-worker.ts'
import { createSink } from '../sink.ts'
import { until } from '../traces.ts'
import {
  CONCURRENCY,
  countsOf,
  judgedIn,
  lateSpansIn,
  makeRuns,
  polite,
  townsOf,
  useJudgeBench,
} from './judge-bench.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'

let kafka: KafkaCluster
const bench = useJudgeBench(async () => (kafka = await startKafka(1)))

describe('judge workers', () => {
  it('continue by themselves after the broker was unavailable, and so does the worker that writes jobs', async () => {
    await bench.createTopics('broker', 2)
    await using sink = await createSink()
    bench.answer = (request) => polite(request, { delayMs: 100 })
    const asked = bench.requests.length
    const config = bench.configure('broker')
    const runs = makeRuns(300)
    const worker = await bench.writeJobs('broker', sink, config, runs.slice(0, 150))
    const asking = await startJudgeWorker(bench.options('broker', sink.url, config))
    await until(() => judgedIn(sink).length > 20, 'the first scores', 30_000)
    const sending = bench.send('broker', runs.slice(150))
    await kafka.kill(0)
    await new Promise((resolve) => setTimeout(resolve, 6000))
    expect((await fetch(`http://127.0.0.1:${asking.httpPort}/health`)).status).toBe(200)
    await kafka.start(0)
    const keys = () => new Set(judgedIn(sink).map(({ traceId }) => traceId))
    await until(() => keys().size === 300, 'all scores', 120_000)
    await sending
    await Promise.all([asking.stop(), worker.stop()])
    const calls = townsOf(bench.requests.slice(asked))
    const ids = new Set(judgedIn(sink).map(({ attributes }) => attributes['spanscore.score.id']))
    console.info(`${calls.length} calls for ${new Set(calls).size} runs, ${judgedIn(sink).length} scores`)
    expect(ids.size).toBe(300)
    expect(calls.length - new Set(calls).size).toBeLessThanOrEqual(2 * CONCURRENCY)
  })

  it('pause an overloaded provider, keep the jobs on Kafka, and ask once it answers again', async () => {
    await bench.createTopics('busy', 1)
    await using sink = await createSink()
    let isBusy = true
    bench.answer = (request) => (isBusy ? { status: 429, headers: { 'retry-after-ms': '5000' } } : polite(request))
    const config = bench.configure('busy', { concurrency: 2, timeoutMs: 2000 })
    const worker = await bench.writeJobs('busy', sink, config, makeRuns(30))
    const busy = await startJudgeWorker(bench.options('busy', sink.url, config))
    await until(() => Number(countsOf(busy).judge['left']) > 0, 'a job that is left', 30_000)
    const ready = await fetch(`http://127.0.0.1:${busy.httpPort}/ready`)
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('not asked for now')])
    expect((await fetch(`http://127.0.0.1:${busy.httpPort}/health`)).status).toBe(200)
    expect(countsOf(busy).judge).toMatchObject({ lag: 30, asked: 0 })
    isBusy = false
    await until(() => judgedIn(sink).length >= 30, 'all scores', 120_000)
    expect(lateSpansIn(sink)).toHaveLength(30)
    await Promise.all([busy.stop(), worker.stop()])
  })
})

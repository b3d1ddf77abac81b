/**
 * All three brokers are unavailable for 20 seconds under load. They are either killed and started again, or frozen with open
 * connections, as if the network dropped every packet. Nothing is lost, no run is false, and workers continue by themselves.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { startWorker } from '../../src/start-worker.ts'
import { until } from '../traces.ts'
import { startCollector } from './collector.ts'
import type { KafkaCollector } from './collector.ts'
import { compare, NO_FAULTS } from './comparison.ts'
import { Deliveries } from './deliveries.ts'
import { CONTENT_CONFIG } from './expected-scores.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { SettledRuns } from './settled-runs.ts'
import { ServiceTraffic } from './traffic.ts'
import { Truth } from './truth.ts'
import { workerOptions } from './worker-options.ts'

const RUNS_PER_SECOND = 100
const AWAY_MS = 20_000
const COMMIT_MS = 1000
/** The runs that are scored again are at most as many as a worker settles in this time. */
const AT_RISK_MS = 2 * COMMIT_MS
const RECOVERY_MS = 60_000
const BROKERS = [0, 1, 2]
const TOPIC = { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '4000000' }

let kafka: KafkaCluster
let collector: KafkaCollector

beforeAll(async () => {
  kafka = await startKafka(BROKERS.length)
  await kafka.createTopics({ 'spanscore.spans': TOPIC, 'spanscore.logs': TOPIC, 'spanscore.dead': {} }, 6)
  collector = await startCollector(kafka.brokers)
})

afterAll(async () => {
  await collector.close()
  await kafka.close()
})

const faults: readonly (readonly [string, () => Promise<void>, () => Promise<void>])[] = [
  [
    'killed',
    async () => {
      await Promise.all(BROKERS.map((index) => kafka.kill(index)))
    },
    async () => {
      await Promise.all(BROKERS.map((index) => kafka.start(index)))
    },
  ],
  [
    'frozen',
    () => {
      for (const index of BROKERS) kafka.freeze(index)
      return Promise.resolve()
    },
    () => {
      for (const index of BROKERS) kafka.thaw(index)
      return Promise.resolve()
    },
  ],
]

it('loses nothing, and continues within a minute, when the whole cluster was unavailable for 20 seconds', async () => {
  await using deliveries = await Deliveries.start(2)
  const truth = new Truth()
  const lines: string[] = []
  const workers = await Promise.all(
    [0, 1].map((place) =>
      startWorker(
        workerOptions(kafka.brokers, 'spanscore', deliveries.urlOf(place), {
          traces: { ...workerOptions([], '', '').traces, settleMs: 2000, orphanMs: 120_000 },
          sessionTimeoutMs: 6000,
          commitMs: COMMIT_MS,
          configPath: CONTENT_CONFIG,
          report: (line) => lines.push(line),
        }),
      ),
    ),
  )
  using counted = new DisposableStack()
  const settled = workers.map((worker) => counted.use(new SettledRuns(worker)))
  const traffic = new ServiceTraffic('weather-app', truth)
  const probes = new ServiceTraffic('probe-app', truth)
  const startMs = performance.now()
  const say = (what: string) => console.info(`${((performance.now() - startMs) / 1000).toFixed(0)} s: ${what}`)
  const isScored = (keys: readonly string[]) => () => keys.every((key) => deliveries.has(key))

  await until(isScored(await probes.sendWhole(collector, 60)), 'scores after the start', RECOVERY_MS)
  traffic.start(collector, RUNS_PER_SECOND)
  await seconds(5)
  const outages: { readonly awayMs: number; readonly backMs: number }[] = []
  for (const [name, goAway, comeBack] of faults) {
    const awayMs = performance.now()
    await goAway()
    // The Collector keeps the spans of runs that begin while no broker is available.
    const meanwhile = await probes.sendWhole(collector, 60)
    await seconds((AWAY_MS - (performance.now() - awayMs)) / 1000)
    for (const { httpPort } of workers) {
      expect((await fetch(`http://127.0.0.1:${httpPort}/health`)).status).toBe(200)
      expect((await fetch(`http://127.0.0.1:${httpPort}/ready`)).status).toBe(503)
    }
    await comeBack()
    const backMs = performance.now()
    outages.push({ awayMs, backMs })
    const afterwards = await probes.sendWhole(collector, 60)
    await until(isScored([...meanwhile, ...afterwards]), `scores after the brokers were ${name}`, RECOVERY_MS)
    say(`${name} for 20 s: scores again after ${((performance.now() - backMs) / 1000).toFixed(1)} s`)
    await seconds(5)
  }
  await traffic.finish()
  await until(() => isScored([...truth.keys()])(), 'a score for every run', 120_000).catch(async () => {
    console.info(lines.slice(-12).join('\n'))
    console.info(await kafka.lagOf('spanscore', 'spanscore.spans'))
  })
  await seconds(3)
  for (const worker of workers) await worker.stop()
  const result = await compare(truth, deliveries)
  let atRisk = 0
  for (const [index, { awayMs, backMs }] of outages.entries()) {
    for (const [place, runs] of settled.entries()) {
      const nextMs = outages[index + 1]?.backMs ?? performance.now()
      const repeated = deliveries.repeatedAfter(place, backMs, nextMs)
      const most = runs.most(awayMs - AT_RISK_MS, awayMs + AT_RISK_MS, AT_RISK_MS)
      say(`outage ${index + 1}: worker ${place} had settled ${most} in two commit intervals; ${repeated} came again`)
      expect(repeated).toBeLessThanOrEqual(most)
      atRisk += most
    }
  }
  expect(result.duplicates).toBeLessThanOrEqual(atRisk)
  console.info(`${truth.size} runs: ${result.text}`)
  for (const key of result.revised) say(`revised: ${deliveries.timesOf(key, startMs)}`)
  expect(result.faults).toEqual(NO_FAULTS)
})

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, count) * 1000))
}

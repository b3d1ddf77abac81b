/**
 * All three brokers are away for 20 seconds under load: killed and started again, and stopped where they are with their connections
 * open, as a network does that swallows everything. Nothing is lost, no run is false, and it goes on by itself.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { until } from '../traces.ts'
import { startCollector } from './collector.ts'
import type { KafkaCollector } from './collector.ts'
import { compare, NO_FAULTS } from './comparison.ts'
import { Deliveries } from './deliveries.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { ServiceTraffic } from './traffic.ts'
import { Truth } from './truth.ts'
import { startWorkerProcess } from './worker-process.ts'

const RUNS_PER_SECOND = 100
const AWAY_MS = 20_000
const COMMIT_MS = 1000
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

it('loses nothing, and goes on within a minute, when the whole cluster was away for 20 seconds', async () => {
  await using deliveries = await Deliveries.start(2)
  const truth = new Truth()
  const waits = '--settle 2 --orphans 120 --linger 60 --session-timeout 6'.split(' ')
  const workers = await Promise.all(
    [0, 1].map((place) =>
      startWorkerProcess(['--to', deliveries.urlOf(place), '--brokers', kafka.brokers.join(','), ...waits]),
    ),
  )
  const traffic = new ServiceTraffic('weather-app', truth)
  const probes = new ServiceTraffic('probe-app', truth)
  const startMs = performance.now()
  const say = (what: string) => console.info(`${((performance.now() - startMs) / 1000).toFixed(0)} s: ${what}`)
  const isScored = (keys: readonly string[]) => () => keys.every((key) => deliveries.has(key))

  await until(isScored(await probes.sendWhole(collector, 60)), 'scores after the start', RECOVERY_MS)
  traffic.start(collector, RUNS_PER_SECOND)
  await seconds(5)
  const awayTimes: number[] = []
  for (const [name, goAway, comeBack] of faults) {
    const awayMs = performance.now()
    awayTimes.push(awayMs)
    await goAway()
    // Spans of runs that begin while no broker is there: the Collector keeps them.
    const meanwhile = await probes.sendWhole(collector, 60)
    await seconds((AWAY_MS - (performance.now() - awayMs)) / 1000)
    for (const { httpPort } of workers) {
      expect((await fetch(`http://127.0.0.1:${httpPort}/health`)).status).toBe(200)
      expect((await fetch(`http://127.0.0.1:${httpPort}/ready`)).status).toBe(503)
    }
    await comeBack()
    const backMs = performance.now()
    const afterwards = await probes.sendWhole(collector, 60)
    await until(isScored([...meanwhile, ...afterwards]), `scores after the brokers were ${name}`, RECOVERY_MS)
    say(`${name} for 20 s: scores again after ${((performance.now() - backMs) / 1000).toFixed(1)} s`)
    await seconds(5)
  }
  await traffic.finish()
  await until(() => isScored([...truth.keys()])(), 'a score for every run', 120_000).catch(async () => {
    for (const { lines } of workers) console.info(lines.slice(-6).join('\n'))
    console.info(await kafka.lagOf('spanscore', 'spanscore.spans'))
  })
  await seconds(3)
  for (const worker of workers) expect(await worker.stop()).toBe(0)
  const result = compare(truth, deliveries)
  // What was settled around the moment at which the brokers went away could not be committed: two intervals before, and two after.
  const settled = awayTimes.flatMap((atMs) =>
    workers.map((_, place) => deliveries.settledBefore(place, atMs + 3 * COMMIT_MS, 6 * COMMIT_MS)),
  )
  expect(result.duplicates).toBeLessThanOrEqual(settled.reduce((sum, count) => sum + count, 0))
  console.info(`${truth.size} runs: ${result.text}`)
  for (const key of result.revised) say(`revised: ${deliveries.timesOf(key, startMs)}`)
  expect(result.faults).toEqual(NO_FAULTS)
})

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, count) * 1000))
}

/**
 * Tests three brokers, two Collectors and three workers, with two services that send half of their spans late and a library whose
 * content is in log records, while workers, brokers and a Collector are killed. Nothing is lost, and no run is false. What every scorer
 * wrote equals what it says of `buildRuns` over all spans and log records, repeated scores have equal ids, and Prometheus has the
 * correct mean.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { ProcessUse } from '../../bench/process-use.ts'
import { makeRun, until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import { compare, NO_FAULTS } from './comparison.ts'
import { startCollector } from './collector.ts'
import type { KafkaCollector } from './collector.ts'
import { Deliveries } from './deliveries.ts'
import { CONTENT_CONFIG } from './expected-scores.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { emptyPanels, startPrometheus } from './prometheus.ts'
import type { Prometheus } from './prometheus.ts'
import { Sender } from './sender.ts'
import { sendRecorded, ServiceTraffic } from './traffic.ts'
import { keyOf, Truth } from './truth.ts'
import { startWorkerProcess } from './worker-process.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Number of runs that are sent per second, and minimum number in total. Smaller numbers are for trying the test. */
const RUNS_PER_SECOND = Number(process.env['RATE'] ?? 320)
const LEAST_RUNS = Number(process.env['RUNS'] ?? 10_000)
const LEAST_RUNS_PER_SECOND = 300
const PARTITIONS = 12
const TOPIC = { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '4000000' }
const SERVICES = ['weather-app', 'travel-app']
const COMMIT_MS = 1000
/** The runs that are scored again are at most as many as a worker settles in this time. */
const AT_RISK_MS = 2 * COMMIT_MS
const RECOVERY_MS = 60_000

let kafka: KafkaCluster
let collectors: readonly [KafkaCollector, KafkaCollector]
let prometheus: Prometheus

beforeAll(async () => {
  kafka = await startKafka(3)
  await kafka.createTopics({ 'spanscore.spans': TOPIC, 'spanscore.logs': TOPIC, 'spanscore.dead': {} }, PARTITIONS)
  collectors = await Promise.all([startCollector(kafka.brokers), startCollector(kafka.brokers)])
  prometheus = await startPrometheus()
})

afterAll(async () => {
  await Promise.all(collectors.map((collector) => collector.close()))
  await prometheus[Symbol.asyncDispose]()
  await kafka.close()
})

function argsFor(group: string, to: string): readonly string[] {
  return [
    '--to',
    to,
    '--brokers',
    kafka.brokers.join(','),
    '--group',
    group,
    '--config',
    CONTENT_CONFIG,
    ...'--settle 2 --orphans 120 --linger 60 --session-timeout 6'.split(' '),
  ]
}

/** The mean of a service's scores of tool errors, as the shipped rules compute it. */
async function meanInPrometheus(service: string): Promise<number> {
  const sum = (name: string) =>
    `sum by (job) (increase(spanscore_sum_${name}_total{job="${service}", gen_ai_evaluation_name="tool_errors"}[1h]))`
  const means = await prometheus.query(`${sum('wy')} / ${sum('w')}`, 'job')
  return means.get(service) ?? Number.NaN
}

it(`loses nothing, and creates no false run, while workers, brokers and a Collector are killed`, async () => {
  await using deliveries = await Deliveries.start(3, prometheus.metricsUrl)
  const truth = new Truth()
  const start = (place: number) => startWorkerProcess(argsFor('spanscore', deliveries.urlOf(place)))
  const workers: WorkerProcess[] = await Promise.all([0, 1, 2].map(start))
  const traffic = SERVICES.map((service) => new ServiceTraffic(service, truth))
  const [first, second] = collectors
  const probes = new ServiceTraffic('probe-app', truth)
  const startMs = performance.now()
  const say = (what: string) => console.info(`${((performance.now() - startMs) / 1000).toFixed(0)} s: ${what}`)

  /** Prints what helps to find the reason for a failure. */
  const explain = async (): Promise<void> => {
    for (const { lines } of workers) console.info(lines.slice(-6).join('\n'))
    console.info(await kafka.lagOf('spanscore', 'spanscore.spans'))
  }
  /** Checks that runs which are sent after a fault are scored without intervention. */
  const recovers = async (what: string): Promise<void> => {
    const faultMs = performance.now()
    const keys = await probes.sendWhole(first, 60)
    await until(() => keys.every((key) => deliveries.has(key)), `scores after ${what}`, RECOVERY_MS).catch(
      async (error: unknown) => {
        await explain()
        throw error
      },
    )
    say(`${what}: scores again after ${((performance.now() - faultMs) / 1000).toFixed(1)} s`)
  }

  await recovers('the start')
  /** Prints the processor time of processes during the next seconds, which shows what limits the throughput. */
  const measure = async (forSeconds: number): Promise<void> => {
    const groups = {
      brokers: kafka.pids(),
      Collectors: collectors.map((each) => each.pid()),
      workers: workers.map(({ pid }) => pid),
      'the test': [process.pid],
    }
    const uses = Object.entries(groups).map(([name, pids]) => ({ name, uses: pids.map((pid) => new ProcessUse(pid)) }))
    await seconds(forSeconds)
    const used = uses.map(
      ({ name, uses: of }) => `${name} ${of.reduce((sum, use) => sum + use.read().cpuSeconds, 0).toFixed(1)} s`,
    )
    say(`processor time in ${forSeconds} s: ${used.join(', ')}`)
  }
  const sendingMs = performance.now()
  const sizeBefore = truth.size
  for (const [index, each] of traffic.entries()) {
    each.start(collectors[index] ?? first, RUNS_PER_SECOND / SERVICES.length)
  }
  const recorded = sendRecorded(first, truth, 100)
  const kills: { readonly worker: number; readonly atMs: number }[] = []
  const outages: number[] = []
  await measure(5)
  for (const worker of [0, 1, 2]) {
    const settled = () => deliveries.settledBefore(worker, performance.now(), AT_RISK_MS)
    // Only a busy worker can leave unfinished work behind.
    await until(() => settled() > 0, `scores of worker ${worker}`, RECOVERY_MS)
    kills.push({ worker, atMs: performance.now() })
    await workers[worker]?.kill()
    workers[worker] = await start(worker)
    await recovers(`worker ${worker} was killed`)
  }
  const killedUntilMs = performance.now()
  await measure(5)
  await second.kill()
  await seconds(2)
  second.start()
  await recovers('a Collector was killed')
  const coordinator = await kafka.coordinatorOf('spanscore')
  await kafka.kill(coordinator)
  const awayMs = performance.now()
  outages.push(awayMs)
  await recovers(`broker ${coordinator}, which coordinates the group, was killed`)
  await seconds(20 - (performance.now() - awayMs) / 1000)
  await kafka.start(coordinator)
  await recovers(`broker ${coordinator} is back after 20 s`)
  const leader = await kafka.leaderOf('spanscore.spans', 0)
  await kafka.kill(leader)
  outages.push(performance.now())
  await recovers(`broker ${leader}, which leads a partition, was killed`)
  await kafka.start(leader)
  await until(() => truth.size >= LEAST_RUNS, 'enough runs', 300_000)
  const runsPerSecond = (truth.size - sizeBefore) / ((performance.now() - sendingMs) / 1000)
  await Promise.all([...traffic.map((each) => each.finish()), recorded])
  say(`all are sent: ${runsPerSecond.toFixed(0)} runs/s`)

  const missing = () => [...truth.keys()].filter((key) => !deliveries.has(key))
  await until(() => missing().length === 0, 'a score for every run', 180_000).catch(explain)
  say('all are scored')
  await seconds(3)
  for (const worker of workers) expect(await worker.stop()).toBe(0)

  const result = await compare(truth, deliveries)
  for (const key of result.revised) say(`revised: ${deliveries.timesOf(key, startMs)}`)
  console.info(`${truth.size} runs: ${result.text}`)
  expect(result.faults).toEqual(NO_FAULTS)
  for (const { worker, atMs } of kills) {
    const settled = deliveries.settledBefore(worker, atMs, AT_RISK_MS)
    const repeated = deliveries.repeatedAfter(worker, atMs, killedUntilMs)
    say(`worker ${worker} had settled ${settled} runs in two commit intervals; ${repeated} were scored again`)
    expect(repeated).toBeLessThanOrEqual(settled)
  }
  const ofOutages = outages.flatMap((atMs) =>
    workers.map((_, worker) => deliveries.mostSettled(worker, atMs - AT_RISK_MS, atMs + AT_RISK_MS, AT_RISK_MS)),
  )
  const ofKills = kills.map(({ worker, atMs }) => deliveries.settledBefore(worker, atMs, AT_RISK_MS))
  expect(result.duplicates).toBeLessThanOrEqual([...ofOutages, ...ofKills].reduce((sum, count) => sum + count, 0))
  for (const service of SERVICES) {
    const [mean, expected] = [await meanInPrometheus(service), truth.passedOf(service)]
    say(`${service}: mean ${mean.toFixed(4)} in Prometheus, ${expected.toFixed(4)} of the runs`)
    expect(Math.abs(mean - expected)).toBeLessThan(0.02)
  }
  expect(runsPerSecond).toBeGreaterThanOrEqual(LEAST_RUNS_PER_SECOND)
})

it('rolls three workers under traffic without a duplicate, and counts every run once', async () => {
  const topics = { 'roll.spans': TOPIC, 'roll.logs': TOPIC, 'roll.dead': {} }
  await kafka.createTopics(topics, PARTITIONS)
  await using deliveries = await Deliveries.start(3, prometheus.metricsUrl)
  const start = (place: number) =>
    startWorkerProcess([...argsFor('roll', deliveries.urlOf(place)), '--topic-prefix', 'roll'])
  const workers = await Promise.all([0, 1, 2].map(start))
  const sender = new Sender(kafka.brokers, 'roll.spans')
  const runs: MadeRun[] = []
  const over = new AbortController()
  const sending = (async () => {
    while (!over.signal.aborted) {
      const batch = Array.from({ length: 20 }, () =>
        makeRun({ toolFails: Math.random() < 0.3, serviceName: 'roll-app' }),
      )
      runs.push(...batch)
      for (const place of [0, 1, 2]) {
        await sender.send(batch.map((run) => ({ traceId: run.traceId, request: run.requests[place] })))
      }
      await seconds(0.1)
    }
  })()
  for (const place of [0, 1, 2]) {
    await until(() => deliveries.settledBefore(place, performance.now(), COMMIT_MS) > 0, `worker ${place}`, RECOVERY_MS)
    expect(await workers[place]?.stop()).toBe(0)
    workers[place] = await start(place)
  }
  over.abort()
  await sending
  const scored = () => deliveries.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'tool_errors')
  await until(() => new Set(scored().map(keyOf)).size === runs.length, 'a score for every run', 60_000)
  for (const worker of workers) expect(await worker.stop()).toBe(0)
  await sender.close()
  console.info(`${runs.length} runs in a roll: ${scored().length - runs.length} duplicates`)
  expect(scored()).toHaveLength(runs.length)
  // Every process has sent its counts before it ended, under its own instance id.
  const counted = `sum by (job) (last_over_time(spanscore_sum_w_total{job="roll-app", gen_ai_evaluation_name="tool_errors"}[1h]))`
  expect((await prometheus.query(counted, 'job')).get('roll-app')).toBe(runs.length)
  const instances = `count by (job) (sum by (job, instance) (last_over_time(spanscore_sum_w_total{job="roll-app"}[1h])))`
  expect((await prometheus.query(instances, 'job')).get('roll-app')).toBe(6)
})

it('fills all panels: every expression of the dashboard of workers returns data', async () => {
  expect(await emptyPanels(prometheus)).toEqual([])
})

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, count) * 1000))
}

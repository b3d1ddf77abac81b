/**
 * Several faults at a time, in an order that a seed repeats: workers are killed, frozen, added and asked to end, brokers and the
 * coordinator are killed or frozen, a Collector is killed, and the clocks of senders jump. Nothing is lost, and no run is false.
 *
 *     SEED=7 FAULT_SECONDS=60 npm run test:scale -- chaos
 */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { createRandom } from '../../../test/fuzz/random.ts'
import { until } from '../traces.ts'
import { startCollector } from './collector.ts'
import type { KafkaCollector } from './collector.ts'
import { compare, NO_FAULTS } from './comparison.ts'
import { Deliveries } from './deliveries.ts'
import { CONTENT_CONFIG } from './expected-scores.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { ServiceTraffic } from './traffic.ts'
import { Truth } from './truth.ts'
import { startWorkerProcess } from './worker-process.ts'
import type { WorkerProcess } from './worker-process.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const SECONDS = Number(process.env['FAULT_SECONDS'] ?? 20)
const RUNS_PER_SECOND = 60
const MOST_WORKERS = 4
const TOPIC = { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '4000000' }

let kafka: KafkaCluster
let collector: KafkaCollector

beforeAll(async () => {
  kafka = await startKafka(3)
  await kafka.createTopics({ 'spanscore.spans': TOPIC, 'spanscore.logs': TOPIC, 'spanscore.dead': {} }, 6)
  collector = await startCollector(kafka.brokers)
})

afterAll(async () => {
  await collector.close()
  await kafka.close()
})

it(`loses nothing, and creates no false run, during the faults of seed ${SEED}`, async () => {
  const random = createRandom(SEED)
  const between = (least: number, most: number) => least + random.integer(most - least)
  const startMs = performance.now()
  const said: string[] = []
  const say = (what: string) => {
    said.push(`${((performance.now() - startMs) / 1000).toFixed(1)} s: ${what}`)
  }
  await using deliveries = await Deliveries.start(MOST_WORKERS)
  const truth = new Truth()
  const traffic = [new ServiceTraffic('weather-app', truth), new ServiceTraffic('travel-app', truth)]
  const waits = '--settle 2 --orphans 120 --linger 120 --session-timeout 6'.split(' ')
  /** The workers that run or are frozen, by index. */
  const workers = new Map<number, WorkerProcess>()
  /** The parts that are faulty now, which get no second fault until they are restored. */
  const busy = new Set<string>()
  const restoring: Promise<void>[] = []

  const startAt = async (place: number) => {
    const args = [
      '--to',
      deliveries.urlOf(place),
      '--brokers',
      kafka.brokers.join(','),
      '--config',
      CONTENT_CONFIG,
      ...waits,
    ]
    // A process exits if no broker answers. It is then started again, as an orchestrator would do.
    for (;;) {
      const started = await startWorkerProcess(args).catch(() => undefined)
      if (started === undefined) continue
      workers.set(place, started)
      return
    }
  }
  /** Keeps a fault for some seconds, and then ends it. */
  const fault = (
    what: string,
    key: string,
    forSeconds: number,
    begin: () => Promise<void>,
    end: () => Promise<void>,
  ) => {
    busy.add(key)
    say(`${what}, for ${forSeconds} s`)
    const whole = async () => {
      await begin()
      await seconds(forSeconds)
      await end()
      say(`restored: ${what}`)
      busy.delete(key)
    }
    restoring.push(whole())
  }
  const placesOf = (isRunning: boolean) =>
    Array.from({ length: MOST_WORKERS }, (_, place) => place).filter(
      (place) => workers.has(place) === isRunning && !busy.has(`worker ${place}`),
    )
  const runningWorker = (isEnough = 1) => {
    const places = placesOf(true)
    return places.length < isEnough ? undefined : random.pick(places)
  }
  const brokerFault = (what: string, broker: number) => {
    if (busy.has('brokers')) return
    const isKilled = random.chance(0.5)
    const begin = isKilled ? () => kafka.kill(broker) : async () => kafka.freeze(broker)
    const end = isKilled ? () => kafka.start(broker) : async () => kafka.thaw(broker)
    fault(`${what} ${broker} is ${isKilled ? 'killed' : 'stopped'}`, 'brokers', between(3, 14), begin, end)
  }

  const faults: Readonly<Record<string, () => Promise<void> | void>> = {
    killWorker: () => {
      const place = runningWorker()
      if (place === undefined) return
      const begin = async () => workers.get(place)?.kill()
      fault(`worker ${place} is killed`, `worker ${place}`, between(0, 6), begin, () => startAt(place))
    },
    freezeWorker: () => {
      const place = runningWorker()
      if (place === undefined) return
      const send = async (signal: NodeJS.Signals) => void workers.get(place)?.child.kill(signal)
      fault(
        `worker ${place} is stopped`,
        `worker ${place}`,
        between(1, 14),
        () => send('SIGSTOP'),
        () => send('SIGCONT'),
      )
    },
    endWorker: () => {
      const place = runningWorker(2)
      if (place === undefined) return
      const end = async () => {
        await workers.get(place)?.stop()
        workers.delete(place)
      }
      fault(`worker ${place} is asked to end`, `worker ${place}`, 0, end, () => Promise.resolve())
    },
    addWorker: () => {
      const [place] = placesOf(false)
      if (place === undefined) return
      fault(
        `worker ${place} is added`,
        `worker ${place}`,
        0,
        () => startAt(place),
        () => Promise.resolve(),
      )
    },
    broker: () => brokerFault('broker', random.integer(3)),
    coordinator: async () => {
      if (busy.has('brokers')) return
      const coordinator = await kafka.coordinatorOf('spanscore').catch(() => undefined)
      if (coordinator !== undefined) brokerFault('coordinator', coordinator)
    },
    killCollector: () => {
      if (busy.has('collector')) return
      const killed = collector
      const start = async () => killed.start()
      fault('the Collector is killed', 'collector', between(0, 4), () => killed.kill(), start)
    },
    jumpClock: () => {
      const byMs = between(-300_000, 300_000)
      say(`the clock of a sender is off by ${byMs} ms`)
      random.pick(traffic).clockOffsetMs = byMs
    },
  }

  await Promise.all([0, 1, 2].map(startAt))
  for (const each of traffic) each.start(collector, RUNS_PER_SECOND / traffic.length)
  await until(() => deliveries.logs.length > 0, 'the first scores', 60_000)
  const names = Object.keys(faults)
  const endMs = performance.now() + SECONDS * 1000
  while (performance.now() < endMs) {
    await faults[random.pick(names)]?.()
    await seconds(between(500, 4000) / 1000)
  }
  await Promise.all(restoring)
  await Promise.all(traffic.map((each) => each.finish()))
  say('all is restored, and all is sent')
  const missing = () => [...truth.keys()].filter((key) => !deliveries.has(key))
  await until(() => missing().length === 0, 'a score for every run', 180_000).catch(async () => {
    for (const [place, { lines }] of workers) console.info(`worker ${place}`, lines.slice(-6).join('\n'))
    console.info(await kafka.lagOf('spanscore', 'spanscore.spans'))
  })
  // A run whose spans did not arrive together is scored again when the rest has arrived.
  await seconds(5)
  for (const worker of workers.values()) expect(await worker.stop()).toBe(0)
  const result = await compare(truth, deliveries)
  console.info(`seed ${SEED}, ${truth.size} runs: ${result.text}`)
  const wrong = Object.values(result.faults).flat()
  console.info([...said, ...wrong.map((key) => deliveries.timesOf(key, startMs))].join('\n'))
  expect(result.faults).toEqual(NO_FAULTS)
})

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, count) * 1000))
}

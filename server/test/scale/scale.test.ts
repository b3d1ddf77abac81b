/**
 * Three brokers, two Collectors, three workers: spans of two services whose halves come late, and a library whose content is in
 * log records, while workers, brokers and a Collector are killed. Nothing is lost, no run is false, contents are those of
 * `buildRuns` over everything, and what is scored twice has equal ids.
 */
import { randomBytes } from 'node:crypto'

import { buildRuns, readOtlpJson } from 'spanscore/engine'
import type { AgentRun, SourceLog } from 'spanscore/engine'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { libraryNames, loadLibrary } from '../../../test/corpus/load.ts'
import { createSink } from '../sink.ts'
import { makeRun, toRequest, until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import { startCollector } from './collector.ts'
import type { KafkaCollector } from './collector.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { startWorkerProcess } from './worker-process.ts'
import type { WorkerProcess } from './worker-process.ts'

const RUNS = Number(process.env['RUNS'] ?? 10_000)
const RUNS_PER_SECOND = Number(process.env['RATE'] ?? 300)
const PARTITIONS = 12
const TOPIC = { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '4000000' }
const GROUP = 'spanscore'
const SERVICES = ['weather-app', 'travel-app']

let kafka: KafkaCluster
let collectors: KafkaCollector[]

beforeAll(async () => {
  kafka = await startKafka(3)
  await kafka.createTopics({ 'spanscore.spans': TOPIC, 'spanscore.logs': TOPIC, 'spanscore.dead': {} }, PARTITIONS)
  collectors = await Promise.all([startCollector(kafka.brokers), startCollector(kafka.brokers)])
})

afterAll(async () => {
  await Promise.all(collectors.map((collector) => collector.close()))
  await kafka.close()
})

/** What a run is to be scored as. */
interface Truth {
  readonly run: AgentRun
  readonly spans: number
}

it(
  `loses nothing of ${RUNS} runs, and makes no false one, while workers, brokers and a Collector are killed`,
  { timeout: 900_000 },
  async () => {
    await using sink = await createSink()
    const args = [
      '--to',
      sink.url,
      '--brokers',
      kafka.brokers.join(','),
      '--group',
      GROUP,
      ...'--settle 2 --orphans 120 --linger 60 --session-timeout 6'.split(' '),
    ]
    const workers: WorkerProcess[] = await Promise.all([0, 1, 2].map(() => startWorkerProcess(args)))
    const truth = new Map<string, Truth>()
    const startMs = performance.now()
    const say = (what: string) => console.info(`${Math.round((performance.now() - startMs) / 1000)} s: ${what}`)
    const sent = Promise.all(SERVICES.map((service, index) => sendService(service, collectors[index]!, truth, startMs)))
    const recorded = sendRecorded(collectors[0]!, truth)

    await seconds(4)
    for (const index of [0, 1, 2]) {
      say(`worker ${index} is killed`)
      await workers[index]?.kill()
      await seconds(1)
      workers[index] = await startWorkerProcess(args)
      await seconds(5)
    }
    say('a Collector is killed')
    await collectors[1]?.kill()
    await seconds(2)
    collectors[1]?.start()
    const coordinator = await kafka.coordinatorOf(GROUP)
    say(`broker ${coordinator}, which coordinates the group, is killed`)
    await kafka.kill(coordinator)
    await seconds(20)
    await kafka.start(coordinator)
    say(`broker ${coordinator} is back`)
    await seconds(5)
    const leader = await kafka.leaderOf('spanscore.spans', 0)
    say(`broker ${leader}, which leads a partition, is killed`)
    await kafka.kill(leader)
    await seconds(10)
    await kafka.start(leader)
    await Promise.all([sent, recorded])
    const sentSeconds = (performance.now() - startMs) / 1000
    say(`all are sent: ${(truth.size / sentSeconds).toFixed(0)} runs/s`)
    const scored = () => sink.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'tool_errors')
    // Of a run without tool calls there is no score of tool errors, but one of the answer.
    const missing = () => {
      const keys = new Set(sink.logs.map(keyOf))
      return [...truth.keys()].filter((key) => !keys.has(key))
    }
    await until(() => missing().length === 0, 'a score for every run', 180_000).catch(() => undefined)
    say('all are scored')
    if (missing().length > 0) {
      // What a person needs who looks for the reason.
      for (const worker of workers) console.info(worker.lines.slice(-6).join('\n'))
      console.info(await kafka.lagOf(GROUP, 'spanscore.spans'))
    }
    await seconds(5)
    for (const worker of workers) expect(await worker.stop()).toBe(0)

    const byRun = Map.groupBy(scored(), keyOf)
    console.info(
      `without a score of tool errors: ${[...truth].filter(([key, { run }]) => run.toolCalls.length > 0 && !byRun.has(key)).length}`,
    )
    const falseRuns = [...new Set(sink.logs.map(keyOf))].filter((key) => !truth.has(key))
    const wrong = [...byRun].filter(([key, ofRun]) => ofRun.some((log) => !isRight(log, truth.get(key))))
    const differing = [...byRun.values()].filter(
      (ofRun) => new Set(ofRun.map((log) => log.attributes['spanscore.score.id'])).size > 1,
    )
    for (const key of falseRuns.slice(0, 5)) {
      console.info(`false: ${key}, ${JSON.stringify(byRun.get(key)?.[0]?.attributes)}`)
    }
    console.info(
      `${truth.size} runs: lost ${missing().length}, false ${falseRuns.length}, wrong ${wrong.length}, ` +
        `duplicates ${scored().length - byRun.size}, of these with other ids ${differing.length}`,
    )
    expect({ lost: missing(), falseRuns, wrong: wrong.map(([key]) => key), differing: differing.length }).toEqual({
      lost: [],
      falseRuns: [],
      wrong: [],
      differing: 0,
    })
  },
)

function keyOf({ traceId, spanId }: Pick<SourceLog, 'traceId' | 'spanId'>): string {
  return `${traceId}:${spanId}`
}

function isRight(log: SourceLog, truth: Truth | undefined): boolean {
  if (truth === undefined) return false
  const label = truth.run.toolCalls.some((call) => call.error !== undefined) ? 'fail' : 'pass'
  return (
    log.attributes['spanscore.revision'] === truth.spans &&
    (log.attributes['gen_ai.evaluation.score.label'] ?? label) === label
  )
}

function note(truth: Map<string, Truth>, traces: unknown, logs?: unknown): void {
  const spans = readOtlpJson(traces)?.spans ?? []
  const runs = buildRuns(spans, { logs: logs === undefined ? [] : (readOtlpJson(logs)?.logs ?? []) })
  for (const run of runs) truth.set(keyOf(run), { run, spans: spans.length })
}

/** The model's span of each run first, those of the tool and of the agent later. */
async function sendService(
  service: string,
  collector: KafkaCollector,
  truth: Map<string, Truth>,
  startMs: number,
): Promise<void> {
  const late: MadeRun[][] = []
  const perSecond = RUNS_PER_SECOND / SERVICES.length
  const total = RUNS / SERVICES.length
  const sendPlace = (runs: readonly MadeRun[], place: number) =>
    collector.send(
      toRequest(
        runs.map((run) => run.spans[place]),
        service,
      ),
    )
  for (let count = 0; count < total;) {
    const batch = Array.from({ length: Math.ceil(perSecond / 10) }, () =>
      makeRun({ toolFails: Math.random() < 0.3, serviceName: service }),
    )
    count += batch.length
    for (const run of batch) note(truth, toRequest(run.spans, service))
    late.push(batch)
    await sendPlace(batch, 0)
    const due = late.length > 5 ? late.shift() : undefined
    if (due !== undefined) for (const place of [1, 2]) await sendPlace(due, place)
    const aheadMs = startMs + (count / perSecond) * 1000 - performance.now()
    if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(aheadMs, 200)))
  }
  for (const batch of late) for (const place of [1, 2]) await sendPlace(batch, place)
}

/** Runs of a library whose content is in log records, each with ids of its own. */
async function sendRecorded(collector: KafkaCollector, truth: Map<string, Truth>): Promise<void> {
  const scenario = libraryNames()
    .flatMap((name) => loadLibrary(name))
    .find(({ logs, expected }) => logs !== undefined && expected.runs.length === 1)
  if (scenario === undefined) throw new Error('Expected a recording with log records, found none.')
  for (let index = 0; index < 100; index++) {
    const [traces, logs] = withNewIds([scenario.traces, scenario.logs])
    note(truth, traces, logs)
    await collector.send(traces)
    await seconds(0.2)
    await collector.send(logs, '/v1/logs')
  }
}

function withNewIds(requests: readonly unknown[]): unknown[] {
  const known = new Map<string, string>()
  const text = JSON.stringify(requests).replaceAll(/"([0-9a-f]{32}|[0-9a-f]{16})"/g, (_, id: string) => {
    const fresh = known.get(id) ?? randomBytes(id.length / 2).toString('hex')
    known.set(id, fresh)
    return `"${fresh}"`
  })
  return JSON.parse(text) as unknown[]
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000))
}

/** A thousand messages a second on one partition, of runs that take half a minute: many more states than a commit has room for. */
import { afterAll, expect, it } from 'vitest'

import { createRandom } from '../../../test/fuzz/random.ts'
import { makeRun, toRequest, until } from '../traces.ts'
import { compare, NO_FAULTS } from './comparison.ts'
import { Deliveries } from './deliveries.ts'
import { CONTENT_CONFIG } from './expected-scores.ts'
import { Sender } from './sender.ts'
import { sharedKafka } from './shared-broker.ts'
import { Truth } from './truth.ts'
import { APPEND_TIME, topicsOf } from './worker-options.ts'
import { startWorkerProcess } from './worker-process.ts'

const NAME = 'long'
const MESSAGES_PER_SECOND = 1000
const SPANS_IN_A_RUN = 3
const RUN_SECONDS = 30
const NEW_RUNS_SECONDS = 32
/** Seconds after the start. The first runs are complete by then, and messages of all states are on the partition. */
const KILLS = [18, 25, 32]
/** Two commit intervals. */
const AT_RISK_MS = 2000

const kafka = sharedKafka()
const { spans, logs, dead } = topicsOf(NAME)

afterAll(() => kafka.close())

async function committed(): Promise<string> {
  const [group] = await kafka.admin.listConsumerGroupOffsets({ groups: [NAME] })
  return group?.topics.find(({ name }) => name === spans)?.partitions[0]?.metadata ?? ''
}

it('is committed at any rate, so that kills lose nothing and repeat only what was settled in two commit intervals', async () => {
  await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME, [dead]: {} }, 1)
  await using deliveries = await Deliveries.start(KILLS.length + 1)
  const truth = new Truth()
  const random = createRandom(1)
  const waits = '--settle 2 --orphans 300 --linger 300 --session-timeout 6'.split(' ')
  const group = ['--brokers', kafka.brokers.join(','), '--group', NAME, '--topic-prefix', NAME]
  const start = (place: number) =>
    startWorkerProcess(['--to', deliveries.urlOf(place), '--config', CONTENT_CONFIG].concat(group, waits))
  let worker = await start(0)

  /** What is due in each tenth of a second. */
  const due: { readonly traceId: string; readonly request: unknown }[][] = []
  const runsInATenth = MESSAGES_PER_SECOND / SPANS_IN_A_RUN / 10
  for (let made = 0; made < NEW_RUNS_SECONDS * 10 * runsInATenth; made++) {
    const run = makeRun({ toolFails: random.chance(0.3) })
    truth.note(toRequest(run.spans))
    const first = Math.floor(made / runsInATenth)
    const lengthTenths = RUN_SECONDS * 10 * (0.5 + random.next())
    const [chat, tool, agent] = run.requests
    for (const [request, share] of [
      [chat, 0],
      [tool, random.next()],
      [agent, 1],
    ] as const) {
      const at = first + Math.floor(share * lengthTenths)
      ;(due[at] ??= []).push({ traceId: run.traceId, request })
    }
  }
  const sender = new Sender(kafka.brokers, spans)
  const startMs = performance.now()
  const reaches = (second: number) =>
    new Promise((resolve) => setTimeout(resolve, Math.max(0, startMs + second * 1000 - performance.now())))
  const sendAll = async () => {
    for (const [tenth, messages = []] of due.entries()) {
      await reaches(tenth / 10)
      await sender.send(messages)
    }
    await sender.close()
  }
  const sending = sendAll()

  const ready: number[] = []
  const lines: string[] = []
  const kills: { readonly place: number; readonly atMs: number }[] = []
  for (const [place, second] of KILLS.entries()) {
    await reaches(second)
    // Only a busy worker whose states are on the partition can leave unfinished work behind.
    await expect.poll(committed, { timeout: 60_000 }).toMatch(/^2/)
    const settled = () => deliveries.settledBefore(place, performance.now(), AT_RISK_MS)
    await until(() => settled() > 0, `scores of worker ${place}`, 60_000)
    ready.push((await fetch(`http://127.0.0.1:${worker.httpPort}/ready`)).status)
    lines.push(...worker.lines.filter((line) => /Progress could not|progress of partition/.test(line)))
    await worker.kill()
    // What it had sent before arrives until now.
    kills.push({ place, atMs: performance.now() })
    worker = await start(place + 1)
  }
  await sending
  const missing = () => [...truth.keys()].filter((key) => !deliveries.has(key))
  await until(() => missing().length === 0, 'a score for every run', 120_000)
  expect(await worker.stop()).toBe(0)

  const result = await compare(truth, deliveries)
  console.info(`${truth.size} runs, ${due.flat().length} messages: ${result.text}`)
  expect(result.faults).toEqual(NO_FAULTS)
  expect(ready).toEqual(KILLS.map(() => 200))
  expect(lines).toEqual([])
  let atRisk = 0
  for (const [index, { place, atMs }] of kills.entries()) {
    const settled = deliveries.settledBefore(place, atMs, AT_RISK_MS)
    const repeated = deliveries.repeatedAfter(place, atMs, kills[index + 1]?.atMs ?? Infinity)
    console.info(`worker ${place} had settled ${settled} runs in two commit intervals; ${repeated} were scored again`)
    expect(repeated).toBeLessThanOrEqual(settled)
    atRisk += settled
  }
  expect(result.duplicates).toBeLessThanOrEqual(atRisk)
})

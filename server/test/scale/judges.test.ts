/** Workers that ask judges, on real brokers, through kills, ends and outages. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createScriptedOpenAIServer, judgeReply } from 'spanscore/testing'
import type { ScriptedOpenAIServer, ScriptedReply } from 'spanscore/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { startWorker } from '../../src/start-worker.ts'
import { makeRun, until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { WorkerBench } from './worker-bench.ts'
import { startWorkerProcess } from './worker-process.ts'

const RUNS = Number(process.env['RUNS'] ?? 300)
const RUNS_PER_SECOND = Number(process.env['RUNS_PER_SECOND'] ?? 10)

const folder = mkdtempSync(join(tmpdir(), 'spanscore-judges-'))
let kafka: KafkaCluster
let judge: ScriptedOpenAIServer
let delayMs = () => 0

beforeAll(async () => {
  judge = await createScriptedOpenAIServer((): ScriptedReply => ({
    text: judgeReply({ verdicts: { polite: 'pass' } }),
    delayMs: delayMs(),
  }))
  process.env['OPENAI_API_KEY'] = 'scripted'
  process.env['OPENAI_BASE_URL'] = judge.url
  kafka = await startKafka(1)
})

afterAll(async () => {
  await judge.close()
  await kafka.close()
  rmSync(folder, { recursive: true, force: true })
})

/** @returns The path of a configuration with one judge and one code scorer */
function configure(name: string, more = ''): string {
  const path = join(folder, `${name}.yaml`)
  writeFileSync(
    path,
    `scorers:
  - name: rubric
    model: openai/gpt-5-mini
    options: { criteria: [{ id: polite, question: 'Is the answer polite?' }] }
  - tool_errors
budget: { callsPerMinute: 100000, usdPerDay: 10000 }
concurrency: 8
${more}`,
  )
  return path
}

/** Arguments of a worker in a process of its own. */
function argsOf({ name, sink }: WorkerBench, configPath: string): readonly string[] {
  const to = ['--to', sink.url, '--brokers', kafka.brokers.join(','), '--config', configPath]
  return [...to, '--group', name, '--topic-prefix', name, ...'--settle 1 --session-timeout 4'.split(' ')]
}

function makeRuns(count: number): MadeRun[] {
  return Array.from({ length: count }, (_, index) => makeRun({ text: `Weather in town number ${index} of ${count}?` }))
}

/** Numbers that identify the run of each question to the judge. */
function townsAsked(from: number): number[] {
  return judge.requests.slice(from).map(({ userText }) => Number(/town number (\d+)/.exec(userText)?.[1] ?? -1))
}

function judgedIn({ sink }: WorkerBench): WorkerBench['sink']['logs'] {
  return sink.logs.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === 'rubric')
}

function tracesJudgedIn(bench: WorkerBench): ReadonlySet<string> {
  return new Set(judgedIn(bench).map(({ traceId }) => traceId))
}

it(`asks about each of ${RUNS} runs, while a worker is killed, one joins, and one is asked to end`, async () => {
  await using bench = await WorkerBench.create(kafka, 'killed', 3)
  let answered = 0
  delayMs = () => 100 + (answered++ % 7) * 60
  const before = judge.requests.length
  const start = () => startWorkerProcess(argsOf(bench, configure('killed')))
  const workers = [await start(), await start()]
  let uncommitted = 0
  const steps = new Map([
    [
      Math.floor(RUNS * 0.4),
      async () => {
        await workers[0]?.kill()
        const asked = judge.requests.length - before
        // Every run has three messages.
        uncommitted = asked - Math.floor((await bench.messagesScored()) / 3)
      },
    ],
    [
      Math.floor(RUNS * 0.6),
      async () => {
        workers[0] = await start()
      },
    ],
    [
      Math.floor(RUNS * 0.8),
      async () => {
        expect(await workers[1]?.stop()).toBe(0)
      },
    ],
  ])
  const runs = makeRuns(RUNS)
  const startMs = performance.now()
  const doing: Promise<void>[] = []
  for (const [index, run] of runs.entries()) {
    const step = steps.get(index)
    if (step !== undefined) doing.push(step())
    await bench.send([run])
    const aheadMs = startMs + ((index + 1) / RUNS_PER_SECOND) * 1000 - performance.now()
    if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs))
  }
  await Promise.all(doing)
  await until(() => tracesJudgedIn(bench).size >= RUNS && bench.hasScored(runs), 'all scores', 120_000)
  expect(await workers[0]?.stop()).toBe(0)

  const calls = townsAsked(before)
  const scores = judgedIn(bench)
  const ids = new Set(scores.map(({ attributes }) => attributes['spanscore.score.id']))
  console.info(
    `${RUNS} runs: ${calls.length} calls, ${uncommitted} not committed at the kill, ${scores.length} scores with ${ids.size} ids`,
  )
  expect(new Set(calls).size).toBe(RUNS)
  // Only what was asked and not committed when the worker was killed is asked again.
  expect(calls.length - RUNS).toBeLessThanOrEqual(uncommitted)
  expect(ids.size).toBe(RUNS)
  for (const { attributes } of scores) {
    expect(attributes['gen_ai.evaluation.score.value']).toBe(1)
    expect(attributes['spanscore.revision']).toBe(3)
    expect(attributes['spanscore.probability']).toBe(1)
  }
})

it('leaves runs whose judges were not asked to the next worker when it is asked to end', async () => {
  await using bench = await WorkerBench.create(kafka, 'ended', 1)
  delayMs = () => 1000
  const before = judge.requests.length
  const configPath = configure('ended')
  const first = await startWorker(bench.options({ configPath }))
  await bench.send(makeRuns(40))
  await until(() => judge.requests.length - before >= 10, 'the first questions', 30_000)
  await first.stop()
  const answered = judge.requests.length - before
  expect(answered).toBeLessThan(40)
  expect(tracesJudgedIn(bench).size).toBe(answered)
  delayMs = () => 0
  const second = await startWorker(bench.options({ configPath }))
  await until(() => tracesJudgedIn(bench).size === 40, 'the others', 60_000)
  await second.stop()
  // None is asked twice, and none is scored twice.
  expect(judge.requests.length - before).toBe(40)
  expect(judgedIn(bench)).toHaveLength(40)
})

it('goes on with the partition if a judge does not answer: what exceeds the queue is skipped with the reason', async () => {
  await using bench = await WorkerBench.create(kafka, 'silent', 1)
  delayMs = () => 600_000
  // It has a process of its own, because the other tests would find the circuit of the judge open.
  const worker = await startWorkerProcess(argsOf(bench, configure('silent', 'queueSize: 10\ntimeoutMs: 3000')))
  const runs = makeRuns(60)
  await bench.send(runs)
  const reasons = () =>
    bench.sink.spans
      .filter(({ name }) => name === 'evaluate rubric')
      .map(({ attributes }) => attributes['spanscore.rubric.status_reason'])
  await until(() => reasons().length >= 60 && bench.hasScored(runs), 'a reason for each, and scores by code', 60_000)
  expect(new Set(reasons())).toEqual(new Set(['queue-full', 'judge-timeout', 'circuit-open']))
  expect(await worker.stop()).toBe(0)
})

it('scores every run after the broker was away while judges were asked', async () => {
  await using bench = await WorkerBench.create(kafka, 'away', 2)
  delayMs = () => 100
  const worker = await startWorker(bench.options({ configPath: configure('away') }))
  const runs = makeRuns(300)
  await bench.send(runs.slice(0, 150))
  await until(() => judgedIn(bench).length > 20, 'the first scores', 30_000)
  const sending = bench.send(runs.slice(150))
  await kafka.kill(0)
  await new Promise((resolve) => setTimeout(resolve, 6000))
  expect((await fetch(`http://127.0.0.1:${worker.httpPort}/health`)).status).toBe(200)
  await kafka.start(0)
  await until(() => tracesJudgedIn(bench).size === 300 && bench.hasScored(runs), 'all scores', 120_000)
  await sending
  await worker.stop()
  const ids = new Set(judgedIn(bench).map(({ attributes }) => attributes['spanscore.score.id']))
  console.info(`${judgedIn(bench).length} scores with ${ids.size} ids`)
  expect(ids.size).toBe(300)
})

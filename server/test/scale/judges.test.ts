/**
 * Judge workers on a real broker: each run that the rate keeps is asked about once, also through kills and hand-overs; what is spent
 * stays spent; what cannot be asked now waits on Kafka, and what is never asked says why.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Consumer, Producer } from '@platformatic/kafka'
import { createScriptedOpenAIServer, judgeReply } from 'spanscore/testing'
import type { ScriptedOpenAIServer, ScriptedReply, ScriptedRequest } from 'spanscore/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startJudgeWorker } from '../../src/start-judge-worker.ts'
import type { JudgeServerOptions } from '../../src/start-judge-worker.ts'
import { startWorker } from '../../src/start-worker.ts'
import type { RunningWorker } from '../../src/start-worker.ts'
import { createSink } from '../sink.ts'
import type { Sink } from '../sink.ts'
import { makeRun, until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { Sender } from './sender.ts'
import { topicsOf, workerOptions } from './worker-options.ts'
import { startWorkerProcess } from './worker-process.ts'

const JOBS = Number(process.env['JOBS'] ?? 1000)
const JOBS_PER_SECOND = Number(process.env['JOBS_PER_SECOND'] ?? 50)
const APPEND_TIME = { 'message.timestamp.type': 'LogAppendTime' }
/** Of the configuration below. A judge worker has at most twice as many in flight. */
const CONCURRENCY = 8

const folder = mkdtempSync(join(tmpdir(), 'spanscore-judges-'))
let kafka: KafkaCluster
let judge: ScriptedOpenAIServer
/** What the judge answers: a test may set another one. */
let answer: (request: ScriptedRequest) => ScriptedReply

beforeAll(async () => {
  kafka = await startKafka(1)
  judge = await createScriptedOpenAIServer((request) => answer(request))
  process.env['OPENAI_API_KEY'] = 'scripted'
  process.env['OPENAI_BASE_URL'] = judge.url
})

afterAll(async () => {
  await judge.close()
  await kafka.close()
  rmSync(folder, { recursive: true, force: true })
})

function polite({ userText }: ScriptedRequest, more: Partial<ScriptedReply> = {}): ScriptedReply {
  return { text: judgeReply(userText, { verdicts: { polite: 'pass' } }), ...more }
}

/** @returns The path of a configuration with one judge and one scorer by code */
function configure(
  name: string,
  { usdPerDay = 10_000, concurrency = CONCURRENCY, timeoutMs = 20_000, question = 'Is the answer polite?' } = {},
): string {
  const path = join(folder, `${name}.yaml`)
  writeFileSync(
    path,
    `scorers:
  - name: rubric
    model: openai/gpt-5-mini
    options: { criteria: [{ id: polite, question: '${question}' }] }
  - tool_errors
concurrency: ${concurrency}
timeoutMs: ${timeoutMs}
budget: { callsPerMinute: 100000, usdPerDay: ${usdPerDay} }
`,
  )
  return path
}

function jobsTopic(name: string): string {
  return `${name}.jobs`
}

async function createTopics(name: string, partitions: number, jobs: Record<string, string> = {}): Promise<void> {
  const { spans, logs, dead } = topicsOf(name)
  await kafka.createTopics(
    { [spans]: APPEND_TIME, [logs]: APPEND_TIME, [dead]: {}, [jobsTopic(name)]: jobs },
    partitions,
  )
}

function judgeOptions(name: string, to: string, configPath: string, change: Partial<JudgeServerOptions> = {}) {
  const { kafka: reached, sessionTimeoutMs, commitMs, host, httpPort, report } = workerOptions(kafka.brokers, name, to)
  return {
    kafka: reached,
    sessionTimeoutMs,
    commitMs,
    host,
    httpPort,
    report,
    groupId: `${name}.judges`,
    topics: { jobs: jobsTopic(name), dead: `${name}.dead` },
    to: { url: to, headers: {}, timeoutMs: 5000 },
    configPath,
    maxJobAgeMs: 600_000,
    ...change,
  }
}

function makeRuns(count: number): MadeRun[] {
  return Array.from({ length: count }, (_, index) => makeRun({ text: `Weather in town number ${index} of ${count}?` }))
}

async function send(name: string, runs: readonly MadeRun[]): Promise<void> {
  const sender = new Sender(kafka.brokers, topicsOf(name).spans)
  for (const place of [0, 1, 2]) {
    await sender.send(runs.map((run) => ({ traceId: run.traceId, request: run.requests[place] })))
  }
  await sender.close()
}

/** Puts jobs for runs on their topic, as a worker writes them, and nobody asks yet. */
async function writeJobs(
  name: string,
  sink: Sink,
  configPath: string,
  runs: readonly MadeRun[],
): Promise<RunningWorker> {
  const worker = await startWorker(
    workerOptions(kafka.brokers, name, sink.url, { configPath, jobsTopic: jobsTopic(name) }),
  )
  await send(name, runs)
  const scored = new Set<string>()
  await until(
    () => {
      for (const { traceId, attributes } of sink.logs) {
        if (attributes['gen_ai.evaluation.name'] === 'tool_errors') scored.add(traceId)
      }
      return runs.every(({ traceId }) => scored.has(traceId))
    },
    'scores by code',
    60_000,
  )
  return worker
}

function judgedIn({ logs }: Sink): Sink['logs'] {
  return logs.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === 'rubric')
}

/** Scores as late spans: those that were skipped with a reason are there, too. */
function lateSpansIn({ spans }: Sink): Sink['spans'] {
  return spans.filter(({ name }) => name === 'evaluate rubric')
}

/** Numbers by which each run is known in a prompt. */
function townsOf(requests: readonly ScriptedRequest[]): number[] {
  return requests.map(({ userText }) => Number(/town number (\d+)/.exec(userText)?.[1] ?? -1))
}

function counts(worker: RunningWorker): {
  readonly judge: Record<string, unknown>
  readonly jobs: Record<string, unknown>
} {
  return JSON.parse(JSON.stringify(worker.counts()))
}

describe('judge workers', () => {
  it(`ask about each of ${JOBS} runs once, while one of them is killed, one joins, and one is asked to end`, async () => {
    await createTopics('spanscore', 3)
    await using sink = await createSink()
    let answered = 0
    answer = (request) => {
      answered += 1
      return polite(request, { delayMs: 100 + (answered % 7) * 60 })
    }
    const args = ['--to', sink.url, '--brokers', kafka.brokers.join(','), '--config', configure('whole')]
    const waits = '--settle 1 --session-timeout 4'.split(' ')
    const worker = await startWorkerProcess([...args, ...waits, '--judge-jobs'])
    const startJudge = () => startWorkerProcess([...args, ...waits, '--role', 'judge'])
    const judges = [await startJudge(), await startJudge()]
    const runs = makeRuns(JOBS)
    const asked = judge.requests.length
    const sender = new Sender(kafka.brokers, 'spanscore.spans')
    const startMs = performance.now()
    const steps = new Map([
      [
        Math.floor(JOBS * 0.4),
        async () => {
          await judges[0]?.kill()
        },
      ],
      [
        Math.floor(JOBS * 0.6),
        async () => {
          judges[0] = await startJudge()
        },
      ],
      [
        Math.floor(JOBS * 0.8),
        async () => {
          expect(await judges[1]?.stop()).toBe(0)
        },
      ],
    ])
    const doing: Promise<void>[] = []
    for (const [index, run] of runs.entries()) {
      const step = steps.get(index)
      if (step !== undefined) doing.push(step())
      for (const place of [0, 1, 2]) await sender.send([{ traceId: run.traceId, request: run.requests[place] }])
      const aheadMs = startMs + ((index + 1) / JOBS_PER_SECOND) * 1000 - performance.now()
      if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs))
    }
    const perSecond = JOBS / ((performance.now() - startMs) / 1000)
    await Promise.all(doing)
    const keys = () => new Set(judgedIn(sink).map(({ traceId }) => traceId))
    await until(() => keys().size >= JOBS, 'a score of the judge for every run', 120_000)
    await sender.close()
    expect(await judges[0]?.stop()).toBe(0)
    expect(await worker.stop()).toBe(0)

    const calls = townsOf(judge.requests.slice(asked))
    const distinct = new Set(calls)
    const scores = judgedIn(sink)
    const ids = Map.groupBy(scores, ({ attributes }) => attributes['spanscore.score.id'])
    console.info(
      `${JOBS} jobs at ${perSecond.toFixed(1)}/s: ${calls.length} calls for ${distinct.size} runs, ` +
        `${scores.length} scores with ${ids.size} ids`,
    )
    expect([...keys()].toSorted()).toEqual(runs.map(({ traceId }) => traceId).toSorted())
    expect(distinct.size).toBe(JOBS)
    // What was in flight when one was killed is asked again, and nothing else.
    expect(calls.length - distinct.size).toBeLessThanOrEqual(2 * CONCURRENCY)
    expect(ids.size).toBe(JOBS)
    for (const { attributes } of scores) {
      expect(attributes['gen_ai.evaluation.score.value']).toBe(1)
      expect(attributes['spanscore.revision']).toBe(3)
      expect(attributes['spanscore.probability']).toBe(1)
    }
    // The scores by code are the worker's, and are there once.
    expect(sink.logs.length - scores.length).toBe(JOBS)
  })

  it('go on with what was spent, after a kill and with other owners of the partitions', async () => {
    await createTopics('spent', 2)
    await using sink = await createSink()
    const usage = { inputTokens: 1200, outputTokens: 1000 }
    answer = (request) => polite(request, { usage, delayMs: 20 })
    const costs = () => judgedIn(sink).map(({ attributes }) => Number(attributes['spanscore.judge.cost_usd']))
    // A score takes about a quarter of a cent: the budget is for some forty.
    const budget = 0.1
    const config = configure('spent', { usdPerDay: budget })
    const worker = await writeJobs('spent', sink, config, makeRuns(100))
    const args = ['--to', sink.url, '--brokers', kafka.brokers.join(','), '--config', config]
    const more = '--role judge --session-timeout 4 --group spent --topic-prefix spent'.split(' ')
    const first = await startWorkerProcess([...args, ...more])
    const isDone = async () => {
      const committed = [...(await kafka.lagOf('spent.judges', 'spent.jobs')).matchAll(/(\d+) of (\d+)/g)]
      return committed.length === 2 && committed.every(([, done, end]) => done === end)
    }
    const untilDone = async () => {
      const endMs = performance.now() + 60_000
      while (!(await isDone())) {
        if (performance.now() > endMs) throw new Error(`Waited for ${await kafka.lagOf('spent.judges', 'spent.jobs')}.`)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
    await untilDone()
    await first.kill()
    const before = new Set(judgedIn(sink).map(({ traceId }) => traceId)).size
    const second = await startWorkerProcess([...args, ...more])
    const third = await startWorkerProcess([...args, ...more])
    await send('spent', makeRuns(100))
    await until(
      () => sink.logs.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === 'tool_errors').length >= 200,
      'scores by code',
      60_000,
    )
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await untilDone()
    await Promise.all([second.stop(), third.stop(), worker.stop()])
    const spent = costs().reduce((sum, cost) => sum + cost, 0)
    const after = costs().length - before
    console.info(`${before} scores before, ${after} after: ${spent.toFixed(4)} of ${budget} US dollars`)
    expect(before).toBeGreaterThan(10)
    // Without what was known of the past, as many would be asked again.
    expect(after).toBeLessThan(before / 2)
    expect(spent).toBeLessThanOrEqual(budget)
  })

  it('end what takes long when its partition moves, and leave it to the next owner', async () => {
    await createTopics('moved', 4)
    await using sink = await createSink()
    const asked = judge.requests.length
    // The first come from the partition that was read first; those after them from all of them in turn. They take longer than is
    // waited for before the group shares the partitions out anew.
    answer = (request) => polite(request, { delayMs: request.index - asked < CONCURRENCY ? 50 : 6000 })
    const config = configure('moved')
    const worker = await writeJobs('moved', sink, config, makeRuns(40))
    const first = await startJudgeWorker(judgeOptions('moved', sink.url, config))
    await until(() => judge.requests.length - asked === 2 * CONCURRENCY, 'judges that are asked', 30_000)
    const second = await startJudgeWorker(judgeOptions('moved', sink.url, config))
    await until(() => judgedIn(sink).length >= 40, 'all scores', 120_000)
    const abandoned = Number(counts(first).judge['abandoned'])
    await Promise.all([first.stop(), second.stop(), worker.stop()])
    const calls = townsOf(judge.requests.slice(asked))
    console.info(`${calls.length} calls for ${new Set(calls).size} runs, ${abandoned} left to the next owner`)
    expect(abandoned).toBeGreaterThan(0)
    expect(calls.length - new Set(calls).size).toBeLessThanOrEqual(abandoned)
    expect(Number(counts(second).judge['asked'])).toBeGreaterThan(0)
    // What was ended gave no score here: each is there once.
    expect(judgedIn(sink)).toHaveLength(40)
  })

  it('go on by themselves when the broker was away, and so does the worker that writes jobs', async () => {
    await createTopics('broker', 2)
    await using sink = await createSink()
    answer = (request) => polite(request, { delayMs: 100 })
    const asked = judge.requests.length
    const config = configure('broker')
    const runs = makeRuns(300)
    const worker = await writeJobs('broker', sink, config, runs.slice(0, 150))
    const asking = await startJudgeWorker(judgeOptions('broker', sink.url, config))
    await until(() => judgedIn(sink).length > 20, 'the first scores', 30_000)
    const sending = send('broker', runs.slice(150))
    await kafka.kill(0)
    await new Promise((resolve) => setTimeout(resolve, 6000))
    expect((await fetch(`http://127.0.0.1:${asking.httpPort}/health`)).status).toBe(200)
    await kafka.start(0)
    const keys = () => new Set(judgedIn(sink).map(({ traceId }) => traceId))
    await until(() => keys().size === 300, 'all scores', 120_000)
    await sending
    await Promise.all([asking.stop(), worker.stop()])
    const calls = townsOf(judge.requests.slice(asked))
    const ids = new Set(judgedIn(sink).map(({ attributes }) => attributes['spanscore.score.id']))
    console.info(`${calls.length} calls for ${new Set(calls).size} runs, ${judgedIn(sink).length} scores`)
    expect(ids.size).toBe(300)
    expect(calls.length - new Set(calls).size).toBeLessThanOrEqual(2 * CONCURRENCY)
  })

  it('leave a provider alone that is overloaded, keep the jobs on Kafka, and ask once it takes questions', async () => {
    await createTopics('busy', 1)
    await using sink = await createSink()
    let isBusy = true
    answer = (request) => (isBusy ? { status: 429, headers: { 'retry-after-ms': '5000' } } : polite(request))
    const config = configure('busy', { concurrency: 2, timeoutMs: 2000 })
    const worker = await writeJobs('busy', sink, config, makeRuns(30))
    const busy = await startJudgeWorker(judgeOptions('busy', sink.url, config))
    await until(() => Number(counts(busy).judge['left']) > 0, 'a job that is left', 30_000)
    const ready = await fetch(`http://127.0.0.1:${busy.httpPort}/ready`)
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('left alone')])
    expect((await fetch(`http://127.0.0.1:${busy.httpPort}/health`)).status).toBe(200)
    expect(counts(busy).judge).toMatchObject({ lag: 30, asked: 0 })
    isBusy = false
    await until(() => judgedIn(sink).length >= 30, 'all scores', 120_000)
    expect(lateSpansIn(sink)).toHaveLength(30)
    await Promise.all([busy.stop(), worker.stop()])
  })

  it('say of each job that they do not ask why, and put aside what is none', async () => {
    await createTopics('unasked', 1)
    await using sink = await createSink()
    answer = (request) => polite(request)
    const asked = judge.requests.length
    const config = configure('unasked')
    const worker = await writeJobs('unasked', sink, config, makeRuns(20))
    const other = configure('other', { question: 'Is the answer short?' })
    const producer = new Producer({ clientId: 'test', bootstrapBrokers: [...kafka.brokers] })
    await producer.send({ messages: [{ topic: jobsTopic('unasked'), value: Buffer.from('no job') }] })
    await producer.close()
    const lines: string[] = []
    const options = judgeOptions('unasked', sink.url, other, { report: (line) => lines.push(line) })
    const differing = await startJudgeWorker(options)
    await until(() => lateSpansIn(sink).length >= 20, 'a reason for each', 30_000)
    await until(() => counts(differing).judge['dead'] === 1, 'the dead letter', 30_000)
    expect(counts(differing).judge).toMatchObject({ unasked: { 'unknown-version': 20 }, asked: 0 })
    expect(lines.filter((line) => line.includes('another configuration'))).toHaveLength(1)
    await differing.stop()
    const reasons = () => lateSpansIn(sink).map(({ attributes }) => attributes['spanscore.rubric.status_reason'])
    expect(new Set(reasons())).toEqual(new Set(['judge-unavailable']))

    await send('unasked', makeRuns(20))
    await until(
      () => sink.logs.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === 'tool_errors').length >= 40,
      'more jobs',
      30_000,
    )
    const late = await startJudgeWorker(judgeOptions('unasked', sink.url, config, { maxJobAgeMs: 0 }))
    await until(() => lateSpansIn(sink).length >= 40, 'a reason for each of them', 30_000)
    expect(counts(late).judge).toMatchObject({ unasked: { expired: 20 }, asked: 0 })
    expect(reasons().filter((reason) => reason === 'expired')).toHaveLength(20)
    await Promise.all([late.stop(), worker.stop()])
    expect(judge.requests.length).toBe(asked)
    const [offsets] = await kafka.admin.listOffsets({
      topics: [{ name: 'unasked.dead', partitions: [{ partitionIndex: 0, timestamp: -1n }] }],
    })
    expect(offsets?.partitions[0]?.offset).toBe(1n)
  })

  it('ask once about a job that is on the topic twice, also after a restart', async () => {
    await createTopics('twice', 1)
    await using sink = await createSink()
    answer = (request) => polite(request)
    const asked = judge.requests.length
    const config = configure('twice')
    const worker = await writeJobs('twice', sink, config, makeRuns(30))
    await worker.stop()
    // A worker that was killed before its commit writes the same jobs again: its group begins anew here.
    const again = await startWorker(
      workerOptions(kafka.brokers, 'twice', sink.url, {
        configPath: config,
        jobsTopic: jobsTopic('twice'),
        groupId: 'twice-again',
      }),
    )
    const first = await startJudgeWorker(judgeOptions('twice', sink.url, config))
    await until(() => judgedIn(sink).length >= 30, 'all scores', 60_000)
    await until(() => counts(again).jobs['written'] === 30, 'the same jobs', 60_000)
    await until(() => counts(first).judge['duplicates'] === 30, 'the same jobs, read', 60_000)
    await Promise.all([first.stop(), again.stop()])
    const third = await startWorker(
      workerOptions(kafka.brokers, 'twice', sink.url, {
        configPath: config,
        jobsTopic: jobsTopic('twice'),
        groupId: 'twice-once-more',
      }),
    )
    const second = await startJudgeWorker(judgeOptions('twice', sink.url, config))
    await until(() => counts(second).judge['duplicates'] === 30, 'the same jobs after a restart', 60_000)
    await Promise.all([second.stop(), third.stop()])
    expect(judge.requests.length - asked).toBe(30)
    expect(judgedIn(sink)).toHaveLength(30)
  })

  it('are not asked about a run that is larger than a message may be: the worker says so, and goes on', async () => {
    await createTopics('large', 1, { 'max.message.bytes': '9000' })
    await using sink = await createSink()
    answer = (request) => polite(request)
    const config = configure('large')
    const [small] = makeRuns(1)
    const large = makeRun({ text: `Weather? ${'rain '.repeat(4000)}` })
    const worker = await writeJobs('large', sink, config, [large, small!])
    const asking = await startJudgeWorker(judgeOptions('large', sink.url, config))
    await until(() => judgedIn(sink).length === 1, 'the score of the small one', 30_000)
    expect(judgedIn(sink)[0]?.traceId).toBe(small?.traceId)
    expect(counts(worker).jobs).toMatchObject({ written: 1, tooLarge: 1 })
    expect(worker.counts()).toMatchObject({ ledger: { scorers: { rubric: { skipped: 1, reasons: { refused: 1 } } } } })
    await Promise.all([asking.stop(), worker.stop()])
  })

  it('find on the topic what redact leaves of a run, and nothing else', async () => {
    await createTopics('redacted', 1)
    await using sink = await createSink()
    answer = (request) => polite(request)
    const asked = judge.requests.length
    const config = join(folder, 'redacted.mjs')
    writeFileSync(
      config,
      `import { defineConfig } from 'spanscore'
import { createRubricScorer, createToolErrorsScorer } from 'spanscore/scorers/prebuilt'
const criteria = [{ id: 'polite', question: 'Is the answer polite?' }]
export default defineConfig({
  scorers: [createRubricScorer({ model: 'openai/gpt-5-mini', criteria }), createToolErrorsScorer()],
  redact: (run) => JSON.parse(JSON.stringify(run).replaceAll('Ada Lovelace', 'somebody')),
})
`,
    )
    const worker = await writeJobs('redacted', sink, config, [makeRun({ text: 'Weather for Ada Lovelace?' })])
    const consumer = new Consumer({ clientId: 'test', groupId: 'reader', bootstrapBrokers: [...kafka.brokers] })
    const stream = await consumer.consume({ topics: [jobsTopic('redacted')], mode: 'earliest' })
    let text = ''
    for await (const { value } of stream) {
      text = value.toString()
      break
    }
    await consumer.close(true)
    expect(text).toContain('Weather for somebody?')
    expect(text).not.toContain('Ada')
    const asking = await startJudgeWorker(judgeOptions('redacted', sink.url, config))
    await until(() => judgedIn(sink).length === 1, 'the score', 30_000)
    expect(judge.requests[asked]?.userText).toContain('Weather for somebody?')
    await Promise.all([asking.stop(), worker.stop()])
  })

  it('need their topic, a judge, and its key', async () => {
    const config = configure('needs')
    await expect(startJudgeWorker(judgeOptions('nowhere', 'http://127.0.0.1:9', config))).rejects.toThrow(
      'Expected the topics nowhere.jobs, nowhere.dead, found no nowhere.jobs, nowhere.dead.',
    )
    await createTopics('compact', 1, { 'cleanup.policy': 'compact' })
    await expect(startJudgeWorker(judgeOptions('compact', 'http://127.0.0.1:9', config))).rejects.toThrow(
      'Expected cleanup.policy=delete of the topic compact.jobs, got compact',
    )
    const path = join(folder, 'code.yaml')
    writeFileSync(path, 'scorers: [tool_errors]')
    await expect(startJudgeWorker(judgeOptions('compact', 'http://127.0.0.1:9', path))).rejects.toThrow(
      'expected a configuration with judges, got none in it',
    )
    const key = process.env['OPENAI_API_KEY']
    delete process.env['OPENAI_API_KEY']
    try {
      await expect(startJudgeWorker(judgeOptions('compact', 'http://127.0.0.1:9', config))).rejects.toThrow(
        /OPENAI_API_KEY/,
      )
    } finally {
      process.env['OPENAI_API_KEY'] = key
    }
  })
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createScriptedOpenAIServer, judgeReply } from 'spanscore/testing'
import type { ScriptedOpenAIServer, ScriptedReply, ScriptedRequest } from 'spanscore/testing'
import { afterAll, beforeAll } from 'vitest'

import { readCommit } from '../../src/kafka/offset-states.ts'
import type { JudgeServerOptions } from '../../src/start-judge-worker.ts'
import { startWorker } from '../../src/start-worker.ts'
import type { WorkerServerOptions } from '../../src/start-worker.ts'
import type { RunningWorker } from '../../src/worker-process.ts'
import type { Sink } from '../sink.ts'
import { makeRun, until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import type { KafkaBrokers } from './kafka-brokers.ts'
import { Sender } from './sender.ts'
import { sharedKafka } from './shared-broker.ts'
import { APPEND_TIME, topicsOf, workerOptions } from './worker-options.ts'

/** The concurrency that `configure` sets. A judge worker has at most twice as many requests in flight. */
export const CONCURRENCY = 8

/** Brokers, and a judge whose answers a test sets. */
class JudgeBench {
  #kafka: KafkaBrokers | undefined
  /** The folder of the configurations. */
  readonly folder: string = mkdtempSync(join(tmpdir(), 'spanscore-judges-'))
  /** The answer of the judge, which a test may replace. */
  answer: (request: ScriptedRequest) => ScriptedReply = polite
  #judge: ScriptedOpenAIServer | undefined

  async start(kafka: KafkaBrokers): Promise<void> {
    this.#kafka = kafka
    this.#judge = await createScriptedOpenAIServer((request) => this.answer(request))
    process.env['OPENAI_API_KEY'] = 'scripted'
    process.env['OPENAI_BASE_URL'] = this.#judge.url
  }

  get kafka(): KafkaBrokers {
    if (this.#kafka === undefined) throw new Error('Expected a bench that has been started.')
    return this.#kafka
  }

  async close(): Promise<void> {
    await this.#judge?.close()
    await this.#kafka?.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The prompts that the judge was sent. */
  get requests(): readonly ScriptedRequest[] {
    return this.#judge?.requests ?? []
  }

  /** @returns The path of a configuration with one judge and one code scorer */
  configure(
    name: string,
    { usdPerDay = 10_000, concurrency = CONCURRENCY, timeoutMs = 20_000, question = 'Is the answer polite?' } = {},
  ): string {
    const path = join(this.folder, `${name}.yaml`)
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

  /** @param jobs Settings of the topic of jobs. */
  async createTopics(name: string, partitions: number, jobs: Record<string, string> = {}): Promise<void> {
    const { spans, logs, dead } = topicsOf(name)
    await this.kafka.createTopics(
      { [spans]: APPEND_TIME, [logs]: APPEND_TIME, [dead]: {}, [jobsTopic(name)]: jobs },
      partitions,
    )
  }

  /** Options of a judge worker. */
  options(name: string, to: string, configPath: string, change: Partial<JudgeServerOptions> = {}): JudgeServerOptions {
    const {
      traces: _traces,
      carryAfterMs: _carryAfterMs,
      limits: _limits,
      ...shared
    } = workerOptions(this.kafka.brokers, name, to)
    return {
      ...shared,
      groupId: `${name}.judges`,
      topics: { jobs: jobsTopic(name), dead: topicsOf(name).dead },
      configPath,
      maxJobAgeMs: 600_000,
      ...change,
    }
  }

  /** Starts a worker that writes jobs. */
  startWriter(
    name: string,
    sink: Sink,
    configPath: string,
    change: Partial<WorkerServerOptions> = {},
  ): Promise<RunningWorker> {
    return startWorker(
      workerOptions(this.kafka.brokers, name, sink.url, { configPath, jobsTopic: jobsTopic(name), ...change }),
    )
  }

  /** How many jobs the group of judge workers has committed as done. */
  async jobsDone(name: string): Promise<number> {
    const [group] = await this.kafka.admin.listConsumerGroupOffsets({ groups: [`${name}.judges`] })
    const committed = group?.topics.find((topic) => topic.name === jobsTopic(name))?.partitions ?? []
    return committed
      .map(({ committedOffset, metadata }) => doneIn(Number(committedOffset), metadata ?? ''))
      .reduce((sum, done) => sum + done, 0)
  }

  async send(name: string, runs: readonly MadeRun[]): Promise<void> {
    const sender = new Sender(this.kafka.brokers, topicsOf(name).spans, this.kafka.access)
    for (const place of [0, 1, 2]) {
      await sender.send(runs.map((run) => ({ traceId: run.traceId, request: run.requests[place] })))
    }
    await sender.close()
  }

  /** Writes jobs for runs to their topic, as a worker does, before any judge worker asks. */
  async writeJobs(name: string, sink: Sink, configPath: string, runs: readonly MadeRun[]): Promise<RunningWorker> {
    const worker = await this.startWriter(name, sink, configPath)
    await this.send(name, runs)
    await untilScoredByCode(sink, runs)
    return worker
  }
}

/** A bench for the tests of a file. @param brokers By default, the brokers that all files share. */
export function useJudgeBench(brokers: () => Promise<KafkaBrokers> = async () => sharedKafka()): JudgeBench {
  const bench = new JudgeBench()
  beforeAll(async () => bench.start(await brokers()))
  afterAll(() => bench.close())
  return bench
}

/** The jobs that a commit marks as done. */
function doneIn(offset: number, metadata: string): number {
  const [states = ''] = metadata.split('|')
  let done = Math.max(0, offset)
  let start = offset
  for (const { end, state } of readCommit({ offset, metadata: states }).runs) {
    if (state === 'finished') done += end - start
    start = end
  }
  return done
}

export function jobsTopic(name: string): string {
  return `${name}.jobs`
}

export function polite(_request: ScriptedRequest, more: Partial<ScriptedReply> = {}): ScriptedReply {
  return { text: judgeReply({ verdicts: { polite: 'pass' } }), ...more }
}

export function makeRuns(count: number): MadeRun[] {
  return Array.from({ length: count }, (_, index) => makeRun({ text: `Weather in town number ${index} of ${count}?` }))
}

/** After that, the jobs of the runs are on their topic, too. */
export async function untilScoredByCode(sink: Sink, runs: readonly MadeRun[]): Promise<void> {
  const isScored = () => {
    const ofCode = sink.logs.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === 'tool_errors')
    const scored = new Set(ofCode.map(({ traceId }) => traceId))
    return runs.every(({ traceId }) => scored.has(traceId))
  }
  await until(isScored, 'scores by code', 60_000)
}

export function judgedIn({ logs }: Sink): Sink['logs'] {
  return logs.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === 'rubric')
}

/** The late spans of scores, including scores that were skipped for a reason. */
export function lateSpansIn({ spans }: Sink): Sink['spans'] {
  return spans.filter(({ name }) => name === 'evaluate rubric')
}

/** Numbers that identify each run in a prompt. */
export function townsOf(requests: readonly ScriptedRequest[]): number[] {
  return requests.map(({ userText }) => Number(/town number (\d+)/.exec(userText)?.[1] ?? -1))
}

export function countsOf(worker: RunningWorker): {
  readonly judge: Record<string, unknown>
  readonly jobs: Record<string, unknown>
} {
  return JSON.parse(JSON.stringify(worker.counts()))
}

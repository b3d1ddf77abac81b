import { readCommit } from '../../src/kafka/offset-states.ts'
import { createSink } from '../sink.ts'
import type { Sink } from '../sink.ts'
import { makeRun } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import type { KafkaBrokers } from './kafka-brokers.ts'
import { Sender } from './sender.ts'
import { APPEND_TIME, topicsOf, workerOptions } from './worker-options.ts'
import type { WorkerServerOptions } from '../../src/start-worker.ts'

/** Separate topics for a test of workers, with a sender, a destination, and the reports of workers. */
export class WorkerBench implements AsyncDisposable {
  readonly name: string
  readonly sink: Sink
  readonly sender: Sender
  readonly lines: string[] = []
  readonly #kafka: KafkaBrokers

  private constructor(kafka: KafkaBrokers, name: string, sink: Sink) {
    this.#kafka = kafka
    this.name = name
    this.sink = sink
    this.sender = new Sender(kafka.brokers, topicsOf(name).spans, kafka.access)
  }

  /**
   * @param name The name of the group, and the prefix of the topics' names.
   * @param replicas The replicas of each partition. By default, there is one on each broker.
   */
  static async create(kafka: KafkaBrokers, name: string, partitions = 1, replicas?: number): Promise<WorkerBench> {
    const bench = new WorkerBench(kafka, name, await createSink())
    const { spans, logs, dead } = topicsOf(name)
    await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME, [dead]: {} }, partitions, replicas)
    return bench
  }

  options(change: Partial<WorkerServerOptions> = {}): WorkerServerOptions {
    return workerOptions(this.#kafka.brokers, this.name, this.sink.url, {
      report: (line) => this.lines.push(line),
      ...change,
    })
  }

  /** Sends one span of each run, for each of these indexes. */
  async send(runs: readonly MadeRun[], places: readonly number[] = [0, 1, 2]): Promise<void> {
    for (const place of places) {
      await this.sender.send(runs.map((run) => ({ traceId: run.traceId, request: run.requests[place] })))
    }
  }

  /** The number of messages with spans that the group has read, according to its latest commits. */
  async messagesRead(): Promise<number> {
    return (await this.#commits()).reduce((sum, { end }) => sum + end, 0)
  }

  /** The number of messages whose runs are scored, according to the group's latest commits. */
  async messagesScored(): Promise<number> {
    let scored = 0
    for (const { lowest, runs } of await this.#commits()) {
      scored += lowest
      let start = lowest
      for (const { end, state } of runs) {
        if (state !== 'open') scored += end - start
        start = end
      }
    }
    return scored
  }

  async #commits() {
    const [group] = await this.#kafka.admin.listConsumerGroupOffsets({ groups: [this.name] })
    const committed = group?.topics.find(({ name }) => name === topicsOf(this.name).spans)?.partitions ?? []
    return committed.map(({ committedOffset, metadata }) => {
      const lowest = Math.max(0, Number(committedOffset))
      return { lowest, ...readCommit({ offset: lowest, metadata: metadata ?? '' }) }
    })
  }

  /** The scores of tool errors, of which each run has one. */
  get scores(): Sink['logs'] {
    return this.sink.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'tool_errors')
  }

  /** True if each of these runs has a score. */
  hasScored(runs: readonly MadeRun[]): boolean {
    const scored = new Set(this.scores.map(({ traceId }) => traceId))
    return runs.every(({ traceId }) => scored.has(traceId))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sender.close()
    await this.sink[Symbol.asyncDispose]()
  }
}

export function makeRuns(count: number): MadeRun[] {
  return Array.from({ length: count }, () => makeRun({ toolFails: Math.random() < 0.3 }))
}

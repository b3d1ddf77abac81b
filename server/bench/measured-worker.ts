import { startCollector } from '../test/scale/collector.ts'
import type { KafkaCollector } from '../test/scale/collector.ts'
import { startKafka } from '../test/scale/kafka-cluster.ts'
import type { KafkaCluster } from '../test/scale/kafka-cluster.ts'
import { startWorkerProcess } from '../test/scale/worker-process.ts'
import type { WorkerProcess } from '../test/scale/worker-process.ts'
import { createSink } from '../test/sink.ts'
import type { Sink } from '../test/sink.ts'
import { sendAll } from './send.ts'

const TOPIC = { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '4000000' }
const PARTITIONS = 6
const SPANS = 'spanscore.spans'

/** After this many milliseconds without a new message, the Collector's queue is empty. */
const QUEUE_MS = 5000

/** Longer than the worker is frozen, so that it stays a member of its group. */
const SESSION_TIMEOUT_SECONDS = 300

/**
 * One broker, a Collector that writes to it, and a worker in a process of its own with a backend that keeps nothing. The worker is frozen
 * while spans are written: what senders and Collector do meanwhile on this machine would take the processor's caches from it, and make its
 * work up to twice as expensive.
 */
export class MeasuredWorker implements AsyncDisposable {
  readonly #kafka: KafkaCluster
  readonly #collector: KafkaCollector
  readonly #worker: WorkerProcess
  readonly #sink: Sink
  #scoresBefore = 0

  private constructor(kafka: KafkaCluster, collector: KafkaCollector, worker: WorkerProcess, sink: Sink) {
    this.#kafka = kafka
    this.#collector = collector
    this.#worker = worker
    this.#sink = sink
  }

  /** @param nodeOptions Options of Node.js itself, such as those of its profiler. */
  static async start(nodeOptions: readonly string[]): Promise<MeasuredWorker> {
    const kafka = await startKafka(1)
    await kafka.createTopics({ [SPANS]: TOPIC, 'spanscore.logs': TOPIC, 'spanscore.dead': {} }, PARTITIONS)
    const collector = await startCollector(kafka.brokers)
    const sink = await createSink({ keeps: false })
    const args = `--session-timeout ${SESSION_TIMEOUT_SECONDS} --settle 3 --linger 10`.split(' ')
    const worker = await startWorkerProcess(
      ['--to', sink.url, '--brokers', kafka.brokers.join(','), ...args],
      {},
      nodeOptions,
    )
    // The Collector answers once it listens.
    await collector.send({ resourceSpans: [] })
    return new MeasuredWorker(kafka, collector, worker, sink)
  }

  /**
   * Writes compressed requests to Kafka, and lets the worker read when all are written.
   *
   * @returns how many messages they are
   */
  async fill(bodies: readonly Buffer[]): Promise<number> {
    const before = await this.#messages()
    this.#worker.child.kill('SIGSTOP')
    await sendAll(`${this.#collector.url}/v1/traces`, bodies)
    let end = before
    for (let latest = -1; latest !== end || end === before;) {
      latest = end
      await new Promise((resolve) => setTimeout(resolve, QUEUE_MS))
      end = await this.#messages()
    }
    this.#scoresBefore = this.#sink.scoreRequests
    this.#worker.child.kill('SIGCONT')
    return end - before
  }

  /** The number of messages with spans that were ever written. */
  async #messages(): Promise<number> {
    const ends = Array.from({ length: PARTITIONS }, (_, partition) => this.#kafka.endOf(SPANS, partition))
    return (await Promise.all(ends)).reduce((sum, end) => sum + end, 0)
  }

  get pid(): number {
    return this.#worker.pid
  }

  /** Resolves when scores have come since the worker was thawed, and no more for a while. */
  async quiet(ms = 10_000): Promise<void> {
    let count = this.#scoresBefore
    for (let latest = -1; latest !== count || count === this.#scoresBefore;) {
      latest = count
      await new Promise((resolve) => setTimeout(resolve, ms))
      count = this.#sink.scoreRequests
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.stop()
    await this.#collector.close()
    await this.#kafka.close()
    await this.#sink[Symbol.asyncDispose]()
  }
}

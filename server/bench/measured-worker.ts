import { startCollector } from '../test/scale/collector.ts'
import type { KafkaCollector } from '../test/scale/collector.ts'
import { startKafka } from '../test/scale/kafka-cluster.ts'
import type { KafkaCluster } from '../test/scale/kafka-cluster.ts'
import { startWorkerProcess } from '../test/scale/worker-process.ts'
import type { WorkerProcess } from '../test/scale/worker-process.ts'
import { createSink } from '../test/sink.ts'
import type { Sink } from '../test/sink.ts'

const TOPIC = { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '4000000' }
const PARTITIONS = 6

/** One broker, a Collector that writes to it, and a worker in a process of its own with a backend that keeps nothing. */
export class MeasuredWorker implements AsyncDisposable {
  readonly #kafka: KafkaCluster
  readonly #collector: KafkaCollector
  readonly #worker: WorkerProcess
  readonly #sink: Sink

  private constructor(kafka: KafkaCluster, collector: KafkaCollector, worker: WorkerProcess, sink: Sink) {
    this.#kafka = kafka
    this.#collector = collector
    this.#worker = worker
    this.#sink = sink
  }

  /** @param nodeOptions Options of Node.js itself, such as those of its profiler. */
  static async start(nodeOptions: readonly string[]): Promise<MeasuredWorker> {
    const kafka = await startKafka(1)
    await kafka.createTopics({ 'spanscore.spans': TOPIC, 'spanscore.logs': TOPIC, 'spanscore.dead': {} }, PARTITIONS)
    const collector = await startCollector(kafka.brokers)
    const sink = await createSink({ keeps: false })
    const args = '--settle 3 --linger 10 --max-held-spans 150000'.split(' ')
    const worker = await startWorkerProcess(
      ['--to', sink.url, '--brokers', kafka.brokers.join(','), ...args],
      {},
      nodeOptions,
    )
    // The Collector answers once it listens.
    await collector.send({ resourceSpans: [] })
    return new MeasuredWorker(kafka, collector, worker, sink)
  }

  /** Where OTLP requests with spans are sent. */
  get url(): string {
    return `${this.#collector.url}/v1/traces`
  }

  get pid(): number {
    return this.#worker.pid
  }

  /** Resolves when no score has come for a while. */
  async quiet(ms = 5000): Promise<void> {
    let count = -1
    while (this.#sink.scoreRequests !== count || count === 0) {
      count = this.#sink.scoreRequests
      await new Promise((resolve) => setTimeout(resolve, ms))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.stop()
    await this.#collector.close()
    await this.#kafka.close()
    await this.#sink[Symbol.asyncDispose]()
  }
}

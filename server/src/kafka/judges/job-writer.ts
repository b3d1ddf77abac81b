import { ProduceAcks } from '@platformatic/kafka'
import type { BaseOptions } from '@platformatic/kafka'
import type { Skipped } from 'spanscore/engine'

import { encodeJob } from '../../score/judge-job.ts'
import type { JudgeJob, JudgeJobs } from '../../score/judge-job.ts'
import { createProducer } from '../create-producer.ts'
import type { BytesProducer } from '../create-producer.ts'
import { isProtocolError } from '../answered-errors.ts'
import { FailingTime } from '../failing-time.ts'
import { clientOptions } from '../kafka-client.ts'
import type { KafkaOptions } from '../kafka-client.ts'
import { Refusals } from '../refusals.ts'
import type { Tried } from '../refusals.ts'
import { checkJobsTopic } from './check-jobs-topic.ts'

/** What a writer of jobs needs. */
export interface JobWriterParts {
  readonly kafka: KafkaOptions
  readonly topic: string
  /** Identifies the configuration by which runs were chosen. */
  readonly configHash: string
  readonly report: (message: string) => void
}

/** What a writer of jobs counts. */
export interface JobWriterCounts {
  /** Jobs that the brokers acknowledged. */
  written: number
  /** Jobs that exceed the topic's message size. */
  tooLarge: number
  /** Failed attempts that are retried. */
  failures: number
}

interface Waiting {
  readonly id: string
  readonly bytes: Buffer
  readonly settle: (score: Skipped | undefined) => void
}

/** Maximum number of jobs in one request. */
const MAX_JOBS = 200
const MAX_REQUEST_BYTES = 1024 * 1024
/** Maximum bytes of a batch besides its messages, and of a message besides its value. */
const OVERHEAD_BYTES = 512

/** Maximum bytes of jobs that wait for brokers before scoring pauses. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

/** Readiness fails if jobs could not be written for this long. */
const UNWRITTEN_MS = 10_000

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000

/**
 * Writes judge jobs to their topic. A job's run is only done once all in-sync replicas have acknowledged the job.
 */
export class JobWriter implements JudgeJobs {
  readonly #parts: JobWriterParts
  readonly #producer: BytesProducer
  readonly #maxMessageBytes: number
  readonly counts: JobWriterCounts = { written: 0, tooLarge: 0, failures: 0 }
  readonly #refusals = new Refusals(() => performance.now())
  readonly #failing = new FailingTime(() => performance.now())
  readonly #tried: Tried
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #isSending = false
  #isClosed = false

  private constructor(parts: JobWriterParts, base: BaseOptions, maxMessageBytes: number) {
    this.#parts = parts
    this.#maxMessageBytes = maxMessageBytes
    this.#tried = { right: 'WRITE', topics: [{ name: parts.topic }] }
    this.#producer = createProducer(base)
  }

  /** @throws Error if the topic is not configured correctly: what was expected, what was found, and what to do */
  static async start(parts: JobWriterParts): Promise<JobWriter> {
    const base = await clientOptions(parts.kafka)
    const { maxMessageBytes } = await checkJobsTopic(parts.kafka, base, parts.topic, [])
    return new JobWriter(parts, base, maxMessageBytes)
  }

  get isFull(): boolean {
    return this.#waitingBytes >= MAX_WAITING_BYTES
  }

  /** Why no jobs can be written now; `undefined` if they can. */
  get unavailable(): string | undefined {
    const { reason } = this.#refusals
    if (reason !== undefined) return `${reason}.`
    const { failingForMs } = this
    if (failingForMs >= UNWRITTEN_MS) {
      return `Jobs for judges could not be written to ${this.#parts.topic} for ${Math.round(failingForMs / 1000)} s; spans stay on Kafka.`
    }
    return this.isFull ? 'Jobs for judges wait for the brokers; spans stay on Kafka.' : undefined
  }

  /** For how many milliseconds jobs could not be written; 0 if they can. */
  get failingForMs(): number {
    return this.#failing.ms
  }

  /** Bytes of unacknowledged jobs. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  write(job: JudgeJob): Promise<Skipped | undefined> {
    const bytes = encodeJob(job, this.#parts.configHash)
    if (bytes.byteLength + OVERHEAD_BYTES > this.#maxMessageBytes) {
      return Promise.resolve(this.#tooLarge(bytes.byteLength))
    }
    this.#waitingBytes += bytes.byteLength
    return new Promise((resolve) => {
      const settle = (score: Skipped | undefined): void => {
        this.#waitingBytes -= bytes.byteLength
        resolve(score)
      }
      this.#waiting.push({ id: job.ids.id, bytes, settle })
      if (!this.#isSending) void this.#sendAll()
    })
  }

  /** Drops unacknowledged jobs. Their runs are not done, so another worker writes the jobs again. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#producer.close()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    // Jobs of the same moment share a request.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0 && !this.#isClosed) await this.#send(this.#takeBatch())
    this.#isSending = false
  }

  #takeBatch(): readonly Waiting[] {
    const limit = Math.min(MAX_REQUEST_BYTES, this.#maxMessageBytes)
    let bytes = 0
    let count = 0
    for (const job of this.#waiting) {
      bytes += job.bytes.byteLength + OVERHEAD_BYTES
      if (count === MAX_JOBS || (count > 0 && bytes > limit)) break
      count += 1
    }
    return this.#waiting.splice(0, count)
  }

  async #send(jobs: readonly Waiting[]): Promise<void> {
    const { topic, report } = this.#parts
    let pauseMs = FIRST_PAUSE_MS
    while (!this.#isClosed) {
      try {
        await this.#producer.send({
          acks: ProduceAcks.ALL,
          compression: 'zstd',
          messages: jobs.map(({ id, bytes }) => ({ topic, key: id, value: bytes })),
        })
        this.counts.written += jobs.length
        for (const { settle } of jobs) settle(undefined)
        this.#refusals.succeeded(this.#tried)
        this.#failing.ended()
        return
      } catch (error) {
        if (isProtocolError(error, 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE')) return await this.#sendApart(jobs)
        // The job may be on the topic nevertheless. A duplicate is only asked once.
        this.counts.failures += 1
        this.#failing.failed()
        report(`Jobs for judges could not be written: ${this.#refusals.failed(this.#tried, error)}.`)
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      }
    }
  }

  /** For a topic that accepts less than it did at the start. */
  async #sendApart(jobs: readonly Waiting[]): Promise<void> {
    const [first] = jobs
    if (jobs.length === 1 && first !== undefined) {
      first.settle(this.#tooLarge(first.bytes.byteLength))
      return
    }
    for (const job of jobs) await this.#send([job])
  }

  #tooLarge(bytes: number): Skipped {
    this.counts.tooLarge += 1
    const { topic } = this.#parts
    const message = `The judge's material has ${bytes} bytes, and a message of ${topic} may have ${this.#maxMessageBytes}: raise its max.message.bytes, or let redact shorten runs.`
    this.#parts.report(`A run is not judged. ${message}`)
    return { status: 'skipped', reason: 'refused', message, messageWithoutContent: message }
  }
}

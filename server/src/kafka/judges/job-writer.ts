import { murmur2 } from '@platformatic/kafka'
import type { Skipped } from 'spanscore/engine'

import { encodeJob } from '../../score/judge-job.ts'
import type { JudgeJob, JudgeJobs } from '../../score/judge-job.ts'
import { isProtocolError } from '../answered-errors.ts'
import { FailingTime } from '../failing-time.ts'
import { clientOptions } from '../kafka-client.ts'
import type { KafkaOptions } from '../kafka-client.ts'
import { RecordWriter } from '../record-writer.ts'
import { Refusals } from '../refusals.ts'
import type { Tried } from '../refusals.ts'
import { checkJobsTopic } from './check-jobs-topic.ts'

/** What a writer of jobs needs. */
export interface JobWriterParts {
  readonly writer: Pick<RecordWriter, 'partitions' | 'append' | 'close'>
  readonly topic: string
  /** Maximum bytes of one batch of messages. */
  readonly maxMessageBytes: number
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
  /** A hash of the id, from which its partition follows, so that a job that is written twice is recognised. */
  readonly hash: number
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
 * Writes judge jobs to their topic. A job's run is only done once all in-sync replicas have acknowledged the job. Each partition is written
 * by itself: while one has no leader, only its own jobs wait.
 */
export class JobWriter implements JudgeJobs {
  readonly #parts: JobWriterParts
  readonly counts: JobWriterCounts = { written: 0, tooLarge: 0, failures: 0 }
  readonly #refusals = new Refusals(() => performance.now())
  readonly #tried: Tried
  /** Jobs that are not being written now. */
  #waiting: Waiting[] = []
  #waitingBytes = 0
  /** Partitions that are being written, or rest after a failure. */
  readonly #busy = new Set<number>()
  /** The partitions that cannot be written, and `topic` if its partitions are not known. */
  readonly #failing = new Map<number | 'topic', { readonly time: FailingTime; pauseMs: number }>()
  #isDispatching = false
  #isClosed = false

  constructor(parts: JobWriterParts) {
    this.#parts = parts
    this.#tried = { right: 'WRITE', topics: [{ name: parts.topic }] }
  }

  /** @throws Error if the topic is not configured correctly: what was expected, what was found, and what to do */
  static async start(
    kafka: KafkaOptions,
    parts: Omit<JobWriterParts, 'writer' | 'maxMessageBytes'>,
  ): Promise<JobWriter> {
    const base = await clientOptions(kafka)
    const { maxMessageBytes } = await checkJobsTopic(kafka, base, parts.topic, [])
    return new JobWriter({ ...parts, maxMessageBytes, writer: new RecordWriter(base) })
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
      const partitions = [...this.#failing.keys()].filter((key) => key !== 'topic')
      const where = partitions.length === 0 ? '' : `, partition ${partitions.join(', ')},`
      return `Jobs for judges could not be written to ${this.#parts.topic}${where} for ${Math.round(failingForMs / 1000)} s; their spans stay on Kafka.`
    }
    return this.isFull ? 'Jobs for judges wait for the brokers; spans stay on Kafka.' : undefined
  }

  /** For how many milliseconds jobs could not be written; 0 if they can. */
  get failingForMs(): number {
    return Math.max(0, ...[...this.#failing.values()].map(({ time }) => time.ms))
  }

  /** Bytes of unacknowledged jobs. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  write(job: JudgeJob): Promise<Skipped | undefined> {
    const bytes = encodeJob(job, this.#parts.configHash)
    if (bytes.byteLength + OVERHEAD_BYTES > this.#parts.maxMessageBytes) {
      return Promise.resolve(this.#tooLarge(bytes.byteLength))
    }
    this.#waitingBytes += bytes.byteLength
    return new Promise((resolve) => {
      const settle = (score: Skipped | undefined): void => {
        this.#waitingBytes -= bytes.byteLength
        resolve(score)
      }
      this.#waiting.push({ id: job.ids.id, hash: murmur2(job.ids.id) >>> 0, bytes, settle })
      this.#dispatch()
    })
  }

  /** Drops unacknowledged jobs. Their runs are not done, so another worker writes the jobs again. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#parts.writer.close()
  }

  /** Writes waiting jobs soon. Jobs of the same moment share a request. */
  #dispatch(): void {
    if (this.#isDispatching || this.#isClosed || this.#waiting.length === 0) return
    this.#isDispatching = true
    setImmediate(() => void this.#dispatchAll())
  }

  async #dispatchAll(): Promise<void> {
    try {
      const { length } = await this.#parts.writer.partitions(this.#parts.topic)
      if (length === 0) throw new Error(`Expected partitions of ${this.#parts.topic}, got none`)
      // The jobs of a partition that no longer exists are written to others.
      for (const key of this.#failing.keys()) if (key === 'topic' || key >= length) this.#failing.delete(key)
      for (const [partition, jobs] of Map.groupBy(this.#waiting, ({ hash }) => hash % length)) {
        if (!this.#busy.has(partition)) void this.#write(partition, this.#batchOf(jobs))
      }
    } catch (error) {
      await this.#pauseAfter('topic', error)
      this.#isDispatching = false
      this.#dispatch()
      return
    }
    this.#isDispatching = false
  }

  #batchOf(jobs: readonly Waiting[]): readonly Waiting[] {
    const limit = Math.min(MAX_REQUEST_BYTES, this.#parts.maxMessageBytes)
    let bytes = 0
    let count = 0
    for (const job of jobs) {
      bytes += job.bytes.byteLength + OVERHEAD_BYTES
      if (count === MAX_JOBS || (count > 0 && bytes > limit)) break
      count += 1
    }
    return jobs.slice(0, count)
  }

  async #write(partition: number, jobs: readonly Waiting[]): Promise<void> {
    const taken = new Set(jobs)
    this.#waiting = this.#waiting.filter((job) => !taken.has(job))
    this.#busy.add(partition)
    try {
      await this.#append(partition, jobs)
      this.#failing.delete(partition)
    } catch (error) {
      this.#waiting = [...jobs, ...this.#waiting]
      // The jobs may be on the topic nevertheless. A duplicate is only asked once.
      await this.#pauseAfter(partition, error)
    }
    this.#busy.delete(partition)
    this.#dispatch()
  }

  async #append(partition: number, jobs: readonly Waiting[]): Promise<void> {
    const messages = jobs.map(({ id, bytes }) => ({ key: id, value: bytes }))
    try {
      await this.#parts.writer.append(this.#parts.topic, partition, messages)
    } catch (error) {
      if (!isProtocolError(error, 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE')) throw error
      return await this.#appendApart(partition, jobs)
    }
    this.counts.written += jobs.length
    this.#refusals.succeeded(this.#tried)
    for (const { settle } of jobs) settle(undefined)
  }

  /** For a topic that accepts less than it did at the start. */
  async #appendApart(partition: number, jobs: readonly Waiting[]): Promise<void> {
    const [first] = jobs
    if (jobs.length === 1 && first !== undefined) {
      first.settle(this.#tooLarge(first.bytes.byteLength))
      return
    }
    for (const job of jobs) await this.#append(partition, [job])
  }

  async #pauseAfter(where: number | 'topic', error: unknown): Promise<void> {
    this.counts.failures += 1
    const known = this.#failing.get(where)
    const failing = known ?? { time: new FailingTime(() => performance.now()), pauseMs: FIRST_PAUSE_MS }
    failing.time.failed()
    this.#failing.set(where, failing)
    this.#parts.report(`Jobs for judges could not be written: ${this.#refusals.failed(this.#tried, error)}.`)
    await new Promise((resolve) => setTimeout(resolve, failing.pauseMs))
    failing.pauseMs = Math.min(failing.pauseMs * 2, LONGEST_PAUSE_MS)
  }

  #tooLarge(bytes: number): Skipped {
    this.counts.tooLarge += 1
    const { topic } = this.#parts
    const message = `The judge's material has ${bytes} bytes, and a message of ${topic} may have ${this.#parts.maxMessageBytes}: raise its max.message.bytes, or let redact shorten runs.`
    this.#parts.report(`A run is not judged. ${message}`)
    return { status: 'skipped', reason: 'refused', message, messageWithoutContent: message }
  }
}

import { createHash } from 'node:crypto'

import { Admin, ConfigResourceTypes, Producer } from '@platformatic/kafka'

import type { Signal } from '../log/span-log.ts'
import type { RequestReader } from '../receive/read-request.ts'
import { Refusal } from '../receive/refusal.ts'
import type { ServiceParts } from '../service.ts'
import { Service } from '../service.ts'
import { TraceBuffer } from '../traces/trace-buffer.ts'
import type { TraceBufferOptions } from '../traces/buffer-options.ts'
import { GroupMember } from './group-member.ts'
import { clientOptions, describeError, KafkaClient } from './kafka-client.ts'
import type { KafkaOptions } from './kafka-client.ts'
import type { Commit } from './offset-states.ts'
import { PartitionClock } from './partition-clock.ts'
import { PartitionLog } from './partition-log.ts'
import { TopicFetcher } from './topic-fetcher.ts'
import type { FetchedRecord, FetchSource } from './topic-fetcher.ts'

/** Names of the topics. */
export interface Topics {
  readonly spans: string
  readonly logs: string
  /** Where messages are put that cannot be read. */
  readonly dead: string
}

/** How a worker is set up. */
export interface WorkerOptions {
  readonly kafka: KafkaOptions
  readonly groupId: string
  readonly topics: Topics
  /** Limits of what is held are those of all partitions together. */
  readonly traces: TraceBufferOptions
  readonly sessionTimeoutMs: number
  readonly commitMs: number
  /** The age at which a message that holds back the commit is appended again. */
  readonly carryAfterMs: number
}

/** What a worker shares with a service on one machine. */
export type WorkerParts = Pick<ServiceParts, 'scorer' | 'outbox' | 'take' | 'report'> & {
  readonly reader: RequestReader
  /** What all workers ought to have in common: the scorers and their versions. */
  readonly configuration: string
}

/** What a worker counts. */
export interface WorkerCounts {
  messages: number
  spans: number
  /** Messages that could not be read and were put aside. */
  dead: number
  /** Messages that the broker dropped before they were read. */
  lostToRetention: number
  /** Messages that were appended again so that the commit could move on. */
  carried: number
  commits: number
  failedCommits: number
}

interface Partition {
  readonly log: PartitionLog
  readonly clock: PartitionClock
  readonly buffer: TraceBuffer
  readonly service: Service
  /** The end of each topic when it was looked at last. */
  readonly ends: Map<string, number>
}

/** Messages that are appended again together. */
const CARRY_TOGETHER = 500

/** Characters of a commit's metadata from which on the oldest messages are appended again. The broker takes 4,096. */
const CARRY_FROM = 3000
const MAX_METADATA = 4000

const HEARTBEATS_IN_A_SESSION = 5
const CARRIED_HEADER = 'spanscore-carried'
const STUCK_MS = 30_000

/**
 * Scores the runs on the partitions that a consumer group gives it. Each partition is a log of its own, with its own clock and
 * its own traces; scorers and the way out are shared.
 */
export class Worker {
  readonly #options: WorkerOptions
  readonly #parts: WorkerParts
  readonly #partitions = new Map<number, Partition>()
  readonly #partitionCount: number
  readonly #clients: readonly KafkaClient[]
  readonly #member: GroupMember
  readonly #fetcher: TopicFetcher
  readonly #producer: Producer<string, Buffer, string, string>
  readonly counts: WorkerCounts = {
    messages: 0,
    spans: 0,
    dead: 0,
    lostToRetention: 0,
    carried: 0,
    commits: 0,
    failedCommits: 0,
  }
  #isPaused = true
  #committing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #fetching: Promise<void> | undefined
  #progressMs = performance.now()

  private constructor(
    options: WorkerOptions,
    parts: WorkerParts,
    base: Awaited<ReturnType<typeof clientOptions>>,
    partitionCount: number,
  ) {
    this.#options = options
    this.#parts = parts
    this.#partitionCount = partitionCount
    const { topics, sessionTimeoutMs, groupId } = options
    // A fetch waits at the broker, and whatever is sent after it on the same connection waits with it.
    const [control, reading] = [new KafkaClient(base), new KafkaClient(base)]
    this.#clients = [control, reading]
    this.#producer = new Producer({ ...base, retries: 5, serializers: SERIALIZERS })
    this.#member = new GroupMember({
      client: control,
      groupId,
      topics: [topics.spans, topics.logs],
      partitionCount,
      sessionTimeoutMs,
      heartbeatMs: Math.floor(sessionTimeoutMs / HEARTBEATS_IN_A_SESSION),
      rebalanceTimeoutMs: Math.max(15_000, sessionTimeoutMs),
      configHash: createHash('sha256').update(parts.configuration).digest('hex').slice(0, 16),
      onRebalance: () => this.#onRebalance(),
      onAssigned: (partitions) => this.#onAssigned(partitions),
      report: parts.report,
      now: () => performance.now(),
    })
    this.#fetcher = new TopicFetcher({
      client: reading,
      topics: [topics.spans, topics.logs],
      sources: () => this.#sources(),
      report: parts.report,
    })
  }

  /**
   * Checks the topics, joins the group, and begins to read.
   *
   * @throws Error where the topics are not as they have to be: what was expected, what is, and what to do
   */
  static async start(options: WorkerOptions, parts: WorkerParts): Promise<Worker> {
    const base = await clientOptions(options.kafka)
    const worker = new Worker(options, parts, base, await checkTopics(base, options.topics))
    worker.#member.start()
    worker.#fetching = worker.#fetcher.run()
    worker.#timer = setInterval(() => void worker.#tick(), options.commitMs)
    return worker
  }

  /** The partitions that this worker reads. */
  get partitions(): readonly number[] {
    return [...this.#partitions.keys()]
  }

  /** Messages on the partitions that were not read yet. */
  get lag(): number {
    let lag = 0
    for (const { log, ends } of this.#partitions.values()) {
      for (const [topic, end] of ends) lag += Math.max(0, end - log.nextOf(topic))
    }
    return lag
  }

  /** Why the worker ought to be restarted: nothing was read although there is something to read and scores get out. */
  get stuck(): string | undefined {
    const idleMs = performance.now() - this.#progressMs
    if (idleMs < STUCK_MS || this.lag === 0 || this.#parts.outbox.isFull || !this.#member.isJoined) return undefined
    return `Nothing was read for ${Math.round(idleMs / 1000)} s although ${this.lag} messages wait.`
  }

  /** Runs and revisions that were put before the scorers, and traces that are held. */
  traces(): { readonly runs: number; readonly revisions: number; readonly traces: number; readonly held: number } {
    const all = [...this.#partitions.values()]
    const sum = (of: (partition: Partition) => number) => all.reduce((total, each) => total + of(each), 0)
    return {
      runs: sum(({ service }) => service.counts.runs),
      revisions: sum(({ service }) => service.counts.revisions),
      traces: sum(({ buffer }) => buffer.traces),
      held: sum(({ log }) => log.held),
    }
  }

  /** Delivers what is scored, commits, and leaves the group. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isPaused = true
    clearInterval(this.#timer)
    this.#fetcher.stop()
    await this.#settleDown(timeoutMs)
    await this.#commit()
    await this.#member.leave()
    for (const { service } of this.#partitions.values()) service.release()
    this.#partitions.clear()
    await this.#fetching
    await this.#producer.close()
    await Promise.all(this.#clients.map((client) => client.close()))
  }

  /** What is with the scorers is scored and delivered. */
  async #settleDown(timeoutMs: number): Promise<void> {
    const endMs = performance.now() + timeoutMs
    for (const { service } of this.#partitions.values()) service.pause()
    const isBusy = () => [...this.#partitions.values()].some(({ service }) => service.scoring > 0)
    while (isBusy() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 20))
    await this.#parts.outbox.flush(Math.max(0, endMs - performance.now()))
  }

  async #onRebalance(): Promise<void> {
    this.#isPaused = true
    await this.#settleDown(this.#options.sessionTimeoutMs / 3)
    await this.#commit()
  }

  async #onAssigned(assigned: readonly number[]): Promise<void> {
    for (const [number, { service }] of this.#partitions) {
      if (assigned.includes(number)) continue
      service.release()
      this.#partitions.delete(number)
    }
    for (const number of assigned) {
      const known = this.#partitions.get(number)
      if (known === undefined) this.#partitions.set(number, await this.#open(number))
      else known.service.resume()
    }
    this.#progressMs = performance.now()
    this.#isPaused = false
  }

  async #open(partition: number): Promise<Partition> {
    const { topics, traces } = this.#options
    const commits = new Map<string, Commit>()
    for (const topic of [topics.spans, topics.logs]) {
      commits.set(topic, (await this.#member.committed(topic, partition)) ?? { offset: 0, metadata: '' })
    }
    const clock = new PartitionClock([topics.spans, topics.logs], () => performance.now())
    const nowMs = () => clock.nowMs
    const log = new PartitionLog(commits, nowMs)
    const share = (limit: number) => Math.ceil(limit / this.#partitionCount)
    const buffer = new TraceBuffer({
      ...traces,
      maxSpans: share(traces.maxSpans),
      maxContentBytes: share(traces.maxContentBytes),
    })
    const { scorer, outbox, take, report, reader } = this.#parts
    // How long messages are kept is the topics' setting.
    const service = new Service({ log, reader, buffer, scorer, outbox, take, report, nowMs, retentionMs: Infinity })
    service.start()
    return { log, clock, buffer, service, ends: new Map() }
  }

  #sources(): readonly FetchSource[] {
    const { spans, logs } = this.#options.topics
    return [...this.#partitions].flatMap(([number, partition]) => [
      this.#source(number, partition, spans, 'traces'),
      this.#source(number, partition, logs, 'logs'),
    ])
  }

  #source(number: number, partition: Partition, topic: string, signal: Signal): FetchSource {
    const { log, buffer, clock } = partition
    // What a full buffer waits for may be among what is not read: time goes on, so that it is not waited for without end.
    if (buffer.isFull) clock.advance(topic, undefined, true)
    const isOurs = () => this.#partitions.get(number) === partition
    return {
      topic,
      partition: number,
      get next() {
        return isOurs() ? log.nextOf(topic) : -1
      },
      isReady: !this.#isPaused && !this.#parts.outbox.isFull && !buffer.isFull,
      take: (records, next, end) => {
        if (records.length > 0 || next < end) this.#progressMs = performance.now()
        for (const record of records) this.#receive(partition, topic, signal, number, record)
        if (next > log.nextOf(topic)) log.pass(topic, next - 1)
        partition.ends.set(topic, end)
        clock.advance(topic, records.at(-1)?.appendMs, log.nextOf(topic) >= end)
      },
      lost: (first) => {
        const gone = log.skipTo(topic, first)
        this.counts.lostToRetention += gone
        this.#parts.report(
          `${gone} messages of ${topic}, partition ${number}, were dropped by the broker before they were read: raise its retention, or add workers.`,
        )
      },
    }
  }

  #receive(partition: Partition, topic: string, signal: Signal, number: number, record: FetchedRecord): void {
    const { log, clock } = partition
    clock.advance(topic, record.appendMs, false)
    this.counts.messages += 1
    const from = carriedFrom(record)
    if (log.stateBefore(topic, record.offset) === 'finished') {
      log.pass(topic, record.offset)
      return
    }
    try {
      const body = record.value
      const encoding = encodingOf(body)
      const { decoded, spans } = this.#parts.reader.read(body, encoding)
      this.counts.spans += spans
      log.receive(topic, record.offset, { signal, encoding, contentEncoding: '', body, decoded }, from)
    } catch (error) {
      log.keep(topic, record.offset)
      void this.#putAside(log, topic, number, record, error)
    }
  }

  /** A message that cannot be read is kept where a person can look at it, and passed. */
  async #putAside(
    log: PartitionLog,
    topic: string,
    partition: number,
    record: FetchedRecord,
    error: unknown,
  ): Promise<void> {
    const reason = error instanceof Refusal ? error.reason : 'error'
    this.counts.dead += 1
    for (;;) {
      try {
        await this.#producer.send({
          messages: [
            {
              topic: this.#options.topics.dead,
              value: Buffer.from(record.value),
              headers: {
                'spanscore-topic': topic,
                'spanscore-partition': String(partition),
                'spanscore-offset': String(record.offset),
                'spanscore-reason': reason,
              },
            },
          ],
        })
        log.pass(topic, record.offset)
        return
      } catch (failure) {
        this.#parts.report(`A message that cannot be read could not be put aside: ${describeError(failure)}.`)
        await new Promise((resolve) => setTimeout(resolve, 1000))
        if (![...this.#partitions.values()].some((each) => each.log === log)) return
      }
    }
  }

  async #tick(): Promise<void> {
    if (this.#isPaused) return
    await this.#commit()
    for (const [number, partition] of this.#partitions) await this.#carry(number, partition)
  }

  #commit(): Promise<void> {
    this.#committing ??= this.#commitNow().finally(() => {
      this.#committing = undefined
    })
    return this.#committing
  }

  async #commitNow(): Promise<void> {
    const positions = new Map<string, (Commit & { readonly partition: number })[]>()
    for (const [partition, { log }] of this.#partitions) {
      for (const [topic, commit] of log.commits()) {
        // The states do not fit: what was committed before is true still, and what is carried forward makes room.
        if (commit.metadata.length > MAX_METADATA) continue
        const ofTopic = positions.get(topic) ?? []
        ofTopic.push({ ...commit, partition })
        positions.set(topic, ofTopic)
      }
    }
    if (positions.size === 0) return
    try {
      await this.#member.commit(positions)
      this.counts.commits += 1
    } catch (error) {
      this.counts.failedCommits += 1
      this.#parts.report(`What was done could not be committed: ${describeError(error)}.`)
    }
  }

  /** Appends messages again that hold back the commit, where they are old or the states of what comes after no longer fit. */
  async #carry(number: number, { log, clock }: Partition): Promise<void> {
    for (const [topic, commit] of log.commits()) {
      const isLong = commit.metadata.length > CARRY_FROM
      const oldMs = clock.nowMs - this.#options.carryAfterMs
      const messages = log.oldest(topic, CARRY_TOGETHER).filter(({ timeMs }) => isLong || timeMs < oldMs)
      if (messages.length === 0) continue
      log.setUnderWay(messages, true)
      try {
        await this.#producer.send({
          messages: messages.map(({ traceId, body, position }) => ({
            topic,
            partition: number,
            key: traceId,
            value: Buffer.from(body),
            headers: { [CARRIED_HEADER]: String(position) },
          })),
        })
        this.counts.carried += messages.length
      } catch (error) {
        // They may be on the partition all the same: what comes back twice is recognised.
        log.setUnderWay(messages, false)
        this.#parts.report(`Old messages could not be appended again: ${describeError(error)}.`)
      }
    }
  }
}

const SERIALIZERS = {
  key: (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text)),
  value: (value: Buffer | undefined) => value,
  headerKey: (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text)),
  headerValue: (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text)),
}

function carriedFrom({ headers }: FetchedRecord): number | undefined {
  const text = headers.get(CARRIED_HEADER)
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)
}

/** The Collector writes `otlp_proto` or `otlp_json`; only the latter begins with a brace. */
function encodingOf(value: Uint8Array): 'protobuf' | 'json' {
  return value[0] === 0x7b ? 'json' : 'protobuf'
}

/** @returns The number of partitions of both topics */
async function checkTopics(base: Awaited<ReturnType<typeof clientOptions>>, topics: Topics): Promise<number> {
  const admin = new Admin({ ...base, retries: 10, retryDelay: 1000 })
  try {
    const names = [topics.spans, topics.logs, topics.dead]
    const existing = await admin.listTopics()
    const missing = names.filter((name) => !existing.includes(name))
    if (missing.length > 0) {
      throw new Error(
        `Expected the topics ${names.join(', ')}, found no ${missing.join(', ')}. Create them; docs/scale.md has the commands.`,
      )
    }
    const metadata = await admin.metadata({ topics: names, forceUpdate: true })
    const countOf = (name: string) => metadata.topics.get(name)?.partitionsCount ?? 0
    if (countOf(topics.spans) !== countOf(topics.logs)) {
      throw new Error(
        `Expected as many partitions of ${topics.logs} as of ${topics.spans}, got ${countOf(topics.logs)} and ${countOf(topics.spans)}: what belongs to one trace would be read by different workers.`,
      )
    }
    const read = [topics.spans, topics.logs]
    const configs = await admin.describeConfigs({
      resources: read.map((resourceName) => ({
        resourceType: ConfigResourceTypes.TOPIC,
        resourceName,
        configurationKeys: ['message.timestamp.type'],
      })),
    })
    for (const { resourceName, configs: settings } of configs) {
      const type = settings.find(({ name }) => name === 'message.timestamp.type')?.value
      if (type !== 'LogAppendTime') {
        throw new Error(
          `Expected message.timestamp.type=LogAppendTime of the topic ${resourceName}, got ${type}: with the senders' clocks a run could be scored before its spans are there. Set it with kafka-configs --alter.`,
        )
      }
    }
    return countOf(topics.spans)
  } finally {
    await admin.close()
  }
}

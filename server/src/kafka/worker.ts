import { createHash } from 'node:crypto'

import type { RequestReader } from '../receive/read-request.ts'
import type { ServiceParts } from '../service.ts'
import { Service } from '../service.ts'
import { HeldTraces } from '../traces/held-traces.ts'
import type { HeldTracesOptions } from '../traces/held-traces-options.ts'
import { AppendTimes } from './append-times.ts'
import { AssignedPartition } from './assigned-partition.ts'
import type { Unreadable } from './assigned-partition.ts'
import { CarryForward } from './carry-forward.ts'
import { checkTopics } from './check-topics.ts'
import type { Topics } from './check-topics.ts'
import { Commits } from './commits.ts'
import { GroupReader } from './group-reader.ts'
import { clientOptions } from './kafka-client.ts'
import type { KafkaOptions } from './kafka-client.ts'
import type { Commit } from './offset-states.ts'
import { PartitionClock } from './partition-clock.ts'
import { PartitionLog } from './partition-log.ts'
import { sharedLimits } from './shared-limits.ts'
import { WorkerCondition } from './worker-condition.ts'
import { noCounts } from './worker-counts.ts'

/** Options of a worker. */
export interface WorkerOptions {
  /** The brokers. */
  readonly kafka: KafkaOptions
  /** The consumer group. */
  readonly groupId: string
  /** Without heartbeats for this long, other members take over the partitions. */
  readonly sessionTimeoutMs: number
  /** How often progress is committed. */
  readonly commitMs: number
  /** Names of the topics. */
  readonly topics: Topics
  /** The limits apply to all partitions of the process together. */
  readonly traces: HeldTracesOptions
  /** The age at which a message that holds back the commit is appended again. */
  readonly carryAfterMs: number
}

/** The parts that a worker shares with a service on one machine. */
export type WorkerParts = Pick<ServiceParts, 'scorer' | 'outbox' | 'take' | 'report'> & {
  readonly reader: RequestReader
  /** What all workers should share: scorers, their versions and settings, and how long to wait for runs. */
  readonly configuration: string
}

/** Scoring pauses after this many commit intervals without a commit. With the work in progress, that makes two. */
const COMMITS_BEHIND = 1.5
/** How often this is checked per commit interval. */
const LOOKS_FOR_A_COMMIT = 4

/**
 * Scores the runs on its assigned partitions of a consumer group. Each partition is a log with its own clock and traces; scorers and
 * delivery are shared.
 */
export class Worker {
  readonly #options: WorkerOptions
  readonly #parts: WorkerParts
  readonly #partitions = new Map<number, AssignedPartition>()
  readonly #reader: GroupReader
  readonly #commits: Commits
  readonly #carryForward: CarryForward
  readonly counts = noCounts()
  readonly condition: WorkerCondition
  #isPaused = true
  #isStopping = false
  #looks = 0
  #timer: NodeJS.Timeout | undefined

  private constructor(
    options: WorkerOptions,
    parts: WorkerParts,
    base: Awaited<ReturnType<typeof clientOptions>>,
    partitionCount: number,
  ) {
    this.#options = options
    this.#parts = parts
    const { topics } = options
    const times = new AppendTimes(parts.report)
    this.#reader = new GroupReader({
      options,
      base,
      topics: [topics.spans, topics.logs],
      deadTopic: topics.dead,
      partitionCount,
      configHash: createHash('sha256').update(parts.configuration).digest('hex').slice(0, 16),
      partitions: this.#partitions,
      sources: () => [...this.#partitions.values()].flatMap((partition) => partition.sources()),
      onRebalance: () => this.#onRebalance(),
      onAssigned: (partitions) => this.#onAssigned(partitions),
      onTimes: (topic, isAppendTime) => times.seen(topic, isAppendTime),
      report: parts.report,
    })
    const { member, writer, refusals, ends, deadLetters, longCommits, assignedCommits } = this.#reader
    this.#carryForward = new CarryForward({ ...options, writer, refusals, report: parts.report })
    this.#commits = new Commits({
      member,
      long: longCommits,
      partitions: this.#partitions,
      counts: this.counts,
      report: parts.report,
      now: () => performance.now(),
    })
    this.condition = new WorkerCondition({
      member,
      ends,
      refusals,
      deadLetters,
      times,
      partitions: this.#partitions,
      commits: this.#commits,
      waiting: () => assignedCommits.waiting,
      orphanMs: options.traces.orphanMs,
      isPaused: () => this.#isPaused,
      isHeldUp: () => parts.outbox.isFull,
    })
  }

  /**
   * Checks the topics, joins the group, and starts reading.
   *
   * @throws Error if the topics are not configured correctly: what was expected, what was found, and what to do
   */
  static async start(options: WorkerOptions, parts: WorkerParts): Promise<Worker> {
    const base = await clientOptions(options.kafka)
    const worker = new Worker(options, parts, base, await checkTopics(options.kafka, base, options.topics))
    worker.#reader.start()
    worker.#timer = setInterval(() => void worker.#tick(), options.commitMs / LOOKS_FOR_A_COMMIT)
    return worker
  }

  /** The partitions that this worker reads. */
  get partitions(): readonly number[] {
    return [...this.#partitions.keys()]
  }

  /** For how many milliseconds unreadable messages could not be moved to the dead-letter topic; 0 if they can. */
  get deadLettersFailingForMs(): number {
    return this.#reader.deadLetters.failingForMs
  }

  /** Unread messages on the partitions. */
  get lag(): number {
    return [...this.#partitions.values()].reduce((lag, partition) => lag + partition.lag, 0)
  }

  /** Scored runs and revisions, what is held, and what was left out of runs. */
  traces() {
    const all = [...this.#partitions.values()]
    const sum = (of: (partition: AssignedPartition) => number) => all.reduce((total, each) => total + of(each), 0)
    return {
      runs: this.counts.runs + sum(({ service }) => service.counts.runs),
      revisions: this.counts.revisions + sum(({ service }) => service.counts.revisions),
      traces: sum(({ buffer }) => buffer.traces),
      held: sum(({ log }) => log.held),
      late: this.counts.late + sum(({ buffer }) => buffer.counts.late),
      overLimit: this.counts.overLimit + sum(({ buffer }) => buffer.counts.overLimit),
    }
  }

  /** Delivers finished scores, commits, and leaves the group. */
  async stop(timeoutMs: number): Promise<void> {
    const endMs = performance.now() + timeoutMs
    this.#isStopping = true
    this.#isPaused = true
    clearInterval(this.#timer)
    this.#reader.stopReading()
    // The next owner asks them.
    this.#parts.scorer.leaveUnasked()
    await this.#settleDown(timeoutMs)
    await this.#commits.commitUntil(endMs)
    await this.#reader.member.leave()
    for (const { service } of this.#partitions.values()) service.release()
    this.#partitions.clear()
    await this.#reader.close()
  }

  /** Runs that are being scored are finished and delivered. */
  async #settleDown(timeoutMs: number): Promise<void> {
    const endMs = performance.now() + timeoutMs
    for (const { service } of this.#partitions.values()) service.pause()
    const isBusy = () => [...this.#partitions.values()].some(({ service }) => service.scoring > 0)
    while (isBusy() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 20))
    await this.#parts.outbox.flush(Math.max(0, endMs - performance.now()))
  }

  async #onRebalance(): Promise<void> {
    const timeoutMs = this.#options.sessionTimeoutMs / 3
    const endMs = performance.now() + timeoutMs
    this.#isPaused = true
    await this.#settleDown(timeoutMs)
    await this.#commits.commitUntil(endMs)
  }

  async #onAssigned(assigned: readonly number[]): Promise<void> {
    for (const [number, partition] of this.#partitions) if (!assigned.includes(number)) this.#letGo(partition)
    const { assignedCommits } = this.#reader
    assignedCommits.keep(assigned)
    for (const number of assigned) {
      const known = this.#partitions.get(number)
      // A stopping worker reads nothing more; the partition's next owner does.
      if (this.#isStopping) continue
      if (known === undefined) await assignedCommits.read(number, (commits) => this.#open(number, commits))
      else known.service.resume()
    }
    this.#isPaused = this.#isStopping
  }

  #letGo({ number, service, buffer }: AssignedPartition): void {
    this.counts.runs += service.counts.runs
    this.counts.revisions += service.counts.revisions
    this.counts.late += buffer.counts.late
    this.counts.overLimit += buffer.counts.overLimit
    service.release()
    this.#partitions.delete(number)
  }

  /** @param commits the last owner's, by topic */
  #open(number: number, commits: ReadonlyMap<string, Commit>): void {
    const { topics, traces } = this.#options
    const both = [topics.spans, topics.logs]
    const clock = new PartitionClock(both, () => performance.now())
    const nowMs = () => clock.nowMs
    const begin = both.map((topic) => [topic, commits.get(topic) ?? { offset: 0, metadata: '' }] as const)
    const log = new PartitionLog(new Map(begin), nowMs)
    const buffer = new HeldTraces(sharedLimits(traces, () => this.#partitions.size))
    const { scorer, outbox, take, report, reader } = this.#parts
    // The topics' own settings limit how long messages are kept.
    const service = new Service({ log, reader, buffer, scorer, outbox, take, report, nowMs })
    service.start()
    const assigned: AssignedPartition = new AssignedPartition({
      number,
      topics,
      log,
      clock,
      buffer,
      service,
      reader,
      counts: this.counts,
      isReady: () => !this.#isPaused && !outbox.isFull && !this.#reader.deadLetters.isFull,
      isOurs: () => this.#partitions.get(number) === assigned,
      monotonicMs: () => performance.now(),
      onUnreadable: (unreadable) => void this.#moveToDeadLetters(unreadable, log),
      onRecreated: (topic, first) => this.#startAgain(assigned, topic, first),
      report,
    })
    this.#partitions.set(number, assigned)
    this.#commits.begin(assigned)
  }

  /** The messages that were read are gone. The topic is read from its beginning. */
  #startAgain(partition: AssignedPartition, topic: string, first: number): void {
    const { number, log } = partition
    this.#parts.report(
      `${topic}, partition ${number}, was replaced after it was read up to offset ${log.nextOf(topic)}: it was deleted and created again, or lost its end. It is read from its beginning.`,
    )
    const commits = new Map([...log.commits(), [topic, { offset: first, metadata: '' }] as const])
    this.#letGo(partition)
    this.#open(number, commits)
  }

  /** Moves an unreadable message to the dead-letter topic, and skips it. */
  async #moveToDeadLetters(unreadable: Unreadable, log: PartitionLog): Promise<void> {
    this.counts.dead += 1
    const isWanted = () => [...this.#partitions.values()].some((each) => each.log === log)
    if (await this.#reader.deadLetters.put(unreadable, isWanted)) log.pass(unreadable.topic, unreadable.record.offset)
  }

  async #tick(): Promise<void> {
    if (this.#isPaused) return
    this.#pauseWhereLate()
    this.#looks += 1
    if (this.#looks % LOOKS_FOR_A_COMMIT !== 0) return
    this.#reader.ends.look()
    if (!(await this.#commits.commit()) || this.#isPaused) return
    this.#pauseWhereLate()
    for (const [number, { log, clock }] of this.#partitions) {
      this.counts.carried += await this.#carryForward.run(number, log, clock.nowMs)
    }
  }

  /** Uncommitted scores are computed again by the next owner, so scoring pauses instead of adding more. */
  #pauseWhereLate(): void {
    const limitMs = COMMITS_BEHIND * this.#options.commitMs
    for (const partition of this.#partitions.values()) {
      if (this.#commits.ageMs(partition) > limitMs) partition.service.pause()
      else partition.service.resume()
    }
  }
}

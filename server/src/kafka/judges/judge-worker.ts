import type { BaseOptions } from '@platformatic/kafka'
import type { BudgetHistory } from 'spanscore/engine'

import type { JudgeScorer } from '../../score/judge-scorer.ts'
import type { Outbox } from '../../send/outbox.ts'
import { GroupReader } from '../group-reader.ts'
import { clientOptions } from '../kafka-client.ts'
import type { Commit } from '../offset-states.ts'
import type { FetchedRecord } from '../records-of.ts'
import type { FetchSource } from '../topic-fetcher.ts'
import { whySilent, whyWaiting } from '../worker-condition.ts'
import { checkJobsTopic } from './check-jobs-topic.ts'
import { JudgeCommits } from './judge-commits.ts'
import type { JudgeCommitCounts } from './judge-commits.ts'
import { zeroCounts } from './judge-counts.ts'
import { JudgeDesk } from './judge-desk.ts'
import { JudgePartition } from './judge-partition.ts'
import type { JudgeWorkerOptions } from './judge-worker-options.ts'

/** The parts of a judge worker. */
export interface JudgeWorkerParts {
  readonly scorer: JudgeScorer
  readonly outbox: Outbox
  /** Identifies the configuration that all workers and judge workers should share. */
  readonly configHash: string
  readonly report: (message: string) => void
}

/** Maximum bytes of waiting jobs, over all partitions. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** Added to the timeout of a score: if no job starts or ends for this long although jobs wait, the worker is idle. */
const IDLE_MS = 30_000
/** Readiness fails if commits have failed for this long. */
const UNCOMMITTED_MS = 10_000

const monotonicMs = (): number => performance.now()

/** Milliseconds since the epoch, by a clock that never goes back; otherwise spending would be counted twice or forgotten. */
const steadyEpochMs = (): number => performance.timeOrigin + performance.now()

/**
 * Asks judges about the runs on the topic of jobs. Each partition has its share of the budget, and its spending is committed with it, so
 * that it survives restarts and moves with the partition.
 */
export class JudgeWorker {
  readonly #options: JudgeWorkerOptions
  readonly #parts: JudgeWorkerParts
  readonly #partitionCount: number
  readonly #partitions = new Map<number, JudgePartition>()
  readonly #reader: GroupReader
  readonly #commits: JudgeCommits
  readonly #desk: JudgeDesk
  readonly counts = zeroCounts()
  #isPaused = true
  #isStopping = false
  /** When there was last nothing to do, on the monotonic clock. */
  #doneMs = performance.now()
  #timer: NodeJS.Timeout | undefined

  private constructor(options: JudgeWorkerOptions, parts: JudgeWorkerParts, base: BaseOptions, partitionCount: number) {
    this.#options = options
    this.#parts = parts
    this.#partitionCount = partitionCount
    const { topics, maxJobAgeMs } = options
    const { report } = parts
    this.#reader = new GroupReader({
      ...parts,
      options,
      base,
      topics: [topics.jobs],
      deadTopic: topics.dead,
      partitionCount,
      partitions: this.#partitions,
      sources: () => [...this.#partitions.values()].map((partition) => this.#source(partition)),
      onRebalance: () => this.#onRebalance(),
      onAssigned: (partitions) => this.#onAssigned(partitions),
    })
    this.#commits = new JudgeCommits({
      member: this.#reader.member,
      long: this.#reader.longCommits,
      topic: topics.jobs,
      partitions: this.#partitions,
      report,
      onCommitted: () => this.#beginSome(),
      now: monotonicMs,
    })
    this.#desk = new JudgeDesk({
      ...parts,
      commits: this.#commits,
      counts: this.counts,
      maxJobAgeMs,
      moveToDeadLetters: (partition, record) => this.#moveToDeadLetters(partition, record),
      onFree: () => this.#beginSome(),
      epochMs: steadyEpochMs,
      monotonicMs,
    })
  }

  /**
   * Checks the topic, joins the group, and starts reading.
   *
   * @throws Error if the topic is not configured correctly: what was expected, what was found, and what to do
   */
  static async start(options: JudgeWorkerOptions, parts: JudgeWorkerParts): Promise<JudgeWorker> {
    const base = await clientOptions(options.kafka)
    const { jobs, dead } = options.topics
    const { partitionCount } = await checkJobsTopic(options.kafka, base, jobs, [dead])
    const worker = new JudgeWorker(options, parts, base, partitionCount)
    worker.#reader.start()
    worker.#timer = setInterval(() => worker.#tick(), options.commitMs)
    return worker
  }

  /** The partitions that this worker reads. */
  get partitions(): readonly number[] {
    return [...this.#partitions.keys()]
  }

  /** Unfinished jobs on the partitions. */
  get lag(): number {
    return this.#sum(({ lag }) => lag)
  }

  /** Jobs with asked judges that are not committed as done. They are asked again if the process is killed. */
  get inFlight(): number {
    return this.#sum(({ inFlight }) => inFlight)
  }

  /** For how many milliseconds unreadable messages could not be moved to the dead-letter topic; 0 if they can. */
  get deadLettersFailingForMs(): number {
    return this.#reader.deadLetters.failingForMs
  }

  /** Jobs that were read and wait. */
  get waiting(): number {
    return this.#sum(({ waiting }) => waiting)
  }

  /** Counts of commits. */
  get commits(): JudgeCommitCounts {
    return this.#commits.counts
  }

  /** The used share of the tightest limit, 0 to 1, in the partition where it is highest. */
  get budgetUsedRatio(): number {
    return Math.max(0, ...[...this.#partitions.values()].map(({ budget }) => budget.usedRatio()))
  }

  /** Whether providers are paused because they are overloaded or unavailable. */
  get isPaused(): boolean {
    return this.#desk.isPaused
  }

  /** Why the worker does not ask judges now; `undefined` if it does. */
  get unavailable(): string | undefined {
    const { reason } = this.#reader.refusals
    if (reason !== undefined) return `${reason}.`
    const whyNotYet = whyWaiting(this.#reader.assignedCommits.waiting)
    if (this.#partitions.size === 0 && whyNotYet === undefined) return 'No partition is assigned to this judge worker.'
    if (this.isPaused) return 'A judge is overloaded or unavailable, and is not asked for now; jobs stay on Kafka.'
    const { failingForMs } = this.#commits
    if (failingForMs >= UNCOMMITTED_MS) {
      return `Nothing could be committed for ${Math.round(failingForMs / 1000)} s: jobs wait for the group's coordinator.`
    }
    if (this.#isPaused) return undefined
    return whyNotYet ?? whySilent(this.#partitions.values()) ?? this.#reader.deadLetters.unavailable
  }

  /** Why no job starts or ends although jobs wait, scores are delivered, and judges are not paused. */
  get idle(): string | undefined {
    if (!this.#isMeantToJudge) return undefined
    const idleMs = performance.now() - Math.max(this.#doneMs, this.#desk.latestMs)
    if (idleMs < IDLE_MS + this.#parts.scorer.timeoutMs) return undefined
    const { reason } = this.#reader.refusals
    const why = reason === undefined ? '' : ` ${reason}.`
    return `No job was started or finished for ${Math.round(idleMs / 1000)} s although ${this.lag} wait.${why}`
  }

  /**
   * Why the worker should be restarted. Brokers that do not answer, or that refuse something, are not a reason: a restart does not help,
   * and the worker goes on by itself.
   */
  get stuck(): string | undefined {
    const { member, ends, refusals } = this.#reader
    if (this.#isPaused || !member.isJoined) return undefined
    return ends.outgrown ?? (refusals.reason === undefined ? this.idle : undefined)
  }

  /** Lets running judges finish, delivers, commits, and leaves the group. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true
    this.#isPaused = true
    clearInterval(this.#timer)
    this.#reader.stopReading()
    const endMs = performance.now() + timeoutMs
    await this.#desk.settle(timeoutMs)
    await this.#commits.commitUntil(endMs)
    for (const partition of this.#partitions.values()) this.#desk.abandon(partition)
    await this.#reader.member.leave()
    this.#partitions.clear()
    await this.#reader.close()
  }

  async #onRebalance(): Promise<void> {
    this.#isPaused = true
    const timeoutMs = this.#options.sessionTimeoutMs / 3
    const endMs = performance.now() + timeoutMs
    await this.#desk.settle(timeoutMs)
    await this.#commits.commitUntil(endMs)
  }

  async #onAssigned(assigned: readonly number[]): Promise<void> {
    for (const [number, partition] of this.#partitions) {
      if (assigned.includes(number)) continue
      this.#desk.abandon(partition)
      this.#partitions.delete(number)
    }
    const { assignedCommits } = this.#reader
    assignedCommits.keep(assigned)
    for (const number of assigned.filter((each) => !this.#isStopping && !this.#partitions.has(each))) {
      await assignedCommits.read(number, (commits) => this.#open(number, commits.get(this.#options.topics.jobs)))
    }
    this.#isPaused = this.#isStopping
    this.#beginSome()
  }

  #open(number: number, committed: Commit | undefined): void {
    const { scorer, report } = this.#parts
    const createBudget = (history: BudgetHistory | undefined) =>
      scorer.createBudget(1 / this.#partitionCount, steadyEpochMs, history)
    this.#partitions.set(number, new JudgePartition({ number, committed, createBudget, monotonicMs, report }))
  }

  #beginSome(): void {
    if (!this.#isPaused) this.#desk.beginSome([...this.#partitions.values()])
  }

  #source(partition: JudgePartition): FetchSource {
    const topic = this.#options.topics.jobs
    const isOurs = () => this.#partitions.get(partition.number) === partition
    const { outbox, scorer } = this.#parts
    return {
      topic,
      partition: partition.number,
      get next() {
        return isOurs() ? partition.next : -1
      },
      // Jobs that judges cannot keep up with stay on Kafka.
      isReady:
        !this.#isPaused &&
        !outbox.isFull &&
        !this.#reader.deadLetters.isFull &&
        partition.waiting < scorer.concurrency &&
        this.#sum(({ waitingBytes }) => waitingBytes) < MAX_WAITING_BYTES,
      take: (records, next, end) => {
        partition.take(records, next)
        partition.endsAt(topic, end)
        this.#beginSome()
      },
      lost: (first) => {
        const gone = partition.skipTo(first)
        if (gone === 0) return
        this.counts.lostToRetention += gone
        this.#parts.report(
          `${gone} jobs of ${topic}, partition ${partition.number}, were dropped by the broker before they were done: raise its retention, add judge workers, or lower sample.`,
        )
      },
      recreated: (first) => {
        this.#parts.report(
          `${topic}, partition ${partition.number}, was replaced after it was read up to offset ${partition.next}: it was deleted and created again, or lost its end. It is read from its beginning.`,
        )
        this.#desk.abandon(partition)
        this.#open(partition.number, partition.commitAt(first))
      },
    }
  }

  #moveToDeadLetters(partition: JudgePartition, record: FetchedRecord): Promise<boolean> {
    const unreadable = { topic: this.#options.topics.jobs, partition: partition.number, record, reason: 'no-job' }
    return this.#reader.deadLetters.put(unreadable, () => !partition.isLost && !this.#isStopping)
  }

  get #isMeantToJudge(): boolean {
    const isWaiting = this.#parts.outbox.isFull || this.#desk.isPaused || this.#commits.failingForMs > 0
    const isWorking = !this.#isPaused && !isWaiting && this.#reader.member.isJoined
    return isWorking && [...this.#partitions.values()].some(({ hasWork }) => hasWork)
  }

  #tick(): void {
    if (!this.#isMeantToJudge) this.#doneMs = performance.now()
    if (this.#isPaused) return
    void this.#commits.commit()
    this.#beginSome()
    this.#reader.ends.look()
  }

  #sum(of: (partition: JudgePartition) => number): number {
    return [...this.#partitions.values()].reduce((total, partition) => total + of(partition), 0)
  }
}

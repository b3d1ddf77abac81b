import type { Evaluation, HandedAnswer, HandedQuestion, Skipped } from 'spanscore/engine'

import { decodeJob } from '../../score/judge-job.ts'
import type { JudgeJob } from '../../score/judge-job.ts'
import type { JudgeScorer } from '../../score/judge-scorer.ts'
import type { Outbox } from '../../send/outbox.ts'
import { BoundedSet } from '../../traces/bounded-set.ts'
import type { FetchedRecord } from '../records-of.ts'
import type { JudgeCommits } from './judge-commits.ts'
import type { JudgeCounts, UnaskedReason } from './judge-counts.ts'
import type { JudgePartition } from './judge-partition.ts'
import { ProviderPause } from './provider-pause.ts'

/** What a desk needs. */
export interface JudgeDeskParts {
  readonly scorer: JudgeScorer
  readonly outbox: Outbox
  readonly commits: Pick<JudgeCommits, 'commit'>
  readonly counts: JudgeCounts
  readonly configHash: string
  /** Jobs older than this many milliseconds are not judged. */
  readonly maxJobAgeMs: number
  /** Moves a message that is not a job to the dead-letter topic; resolves when that is done, or no longer wanted. */
  readonly moveToDeadLetters: (partition: JudgePartition, record: FetchedRecord) => Promise<boolean>
  /** Called when another job may start. */
  readonly onFree: () => void
  readonly report: (message: string) => void
  /** Milliseconds since the epoch. */
  readonly epochMs: () => number
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number
}

/** A job in progress. */
interface Begun {
  readonly partition: JudgePartition
  /** The question to its judge. */
  question?: HandedQuestion
}

/** Jobs in flight for each that may be asked at the same time: the others wait for delivery and commit. */
const IN_FLIGHT_FOR_EACH = 2

const RETRY_MS = 200

/** Maximum number of delivered jobs that are remembered. */
const DELIVERED_IDS = 40_000

/** Maximum number of worker configurations that are distinguished. */
const MAX_CONFIGURATIONS = 100

/**
 * Works on several jobs of the partitions at a time. The cost of a question is committed before the judge is asked, so that the budget
 * holds however the process ends, and a process that has lost its partitions asks nothing. A job is done when its score was acknowledged.
 */
export class JudgeDesk {
  readonly #parts: JudgeDeskParts
  readonly #pause: ProviderPause
  readonly #begun = new Set<Begun>()
  /** Ids of jobs with delivered scores. A partition that comes back may not know them. */
  readonly #delivered = new BoundedSet(DELIVERED_IDS)
  readonly #configurations = new Set<string>()
  /** The partition whose turn it is. Partitions take turns, so that one with many jobs does not block others. */
  #turn = 0
  #asking = 0
  /** Jobs that wait until their provider may be asked again. */
  #postponed = 0
  #latestMs: number

  constructor(parts: JudgeDeskParts) {
    this.#parts = parts
    this.#pause = new ProviderPause(parts.monotonicMs)
    this.#latestMs = parts.monotonicMs()
    this.#configurations.add(parts.configHash)
  }

  /** Judges that are being asked. */
  get asking(): number {
    return this.#asking
  }

  /** Whether providers are paused. */
  get isPaused(): boolean {
    return this.#pause.leftMs > 0
  }

  /** When a job last started or ended, on the monotonic clock. */
  get latestMs(): number {
    return this.#latestMs
  }

  /** Starts as many jobs as allowed, from the partitions in turn. */
  beginSome(partitions: readonly JudgePartition[]): void {
    const { concurrency } = this.#parts.scorer
    const mayBegin = (): boolean =>
      this.#begun.size < concurrency &&
      // Started jobs that are not asked yet will be in flight too.
      inFlightOf(partitions) + this.#begun.size - this.#asking < concurrency * IN_FLIGHT_FOR_EACH &&
      !this.isPaused &&
      !this.#parts.outbox.isFull
    let without = 0
    while (without < partitions.length && mayBegin()) {
      const partition = partitions[this.#turn % partitions.length]
      this.#turn += 1
      without = partition !== undefined && this.#beginOne(partition) ? 0 : without + 1
    }
  }

  /** Drops the jobs of a partition that another process may have by now. */
  abandon(partition: JudgePartition): void {
    partition.isLost = true
    for (const each of this.#begun) {
      if (each.partition !== partition) continue
      this.#parts.counts.abandoned += 1
      each.question?.abandon()
    }
  }

  /** Resolves when all started jobs are done, except those with a paused provider, or at the timeout. */
  async settle(timeoutMs: number): Promise<void> {
    const { monotonicMs, outbox } = this.#parts
    const endMs = monotonicMs() + timeoutMs
    while (this.#begun.size > this.#postponed && monotonicMs() < endMs) await sleep(20)
    await outbox.flush(Math.max(0, endMs - monotonicMs()))
  }

  /** @returns whether the partition had one */
  #beginOne(partition: JudgePartition): boolean {
    const { counts } = this.#parts
    for (let next = partition.begin(); next !== undefined; next = partition.begin()) {
      const { record, isKnown } = next
      this.#latestMs = this.#parts.monotonicMs()
      if (isKnown || this.#delivered.has(record.key)) {
        counts.duplicates += 1
        partition.finish(record.offset)
        continue
      }
      const begun: Begun = { partition }
      this.#begun.add(begun)
      void this.#work(begun, record).finally(() => {
        this.#begun.delete(begun)
        this.#parts.onFree()
      })
      return true
    }
    return false
  }

  async #work(begun: Begun, record: FetchedRecord): Promise<void> {
    // In a separate turn of the event loop, so that reading a large job delays nothing else.
    await new Promise((resolve) => setImmediate(resolve))
    const { partition } = begun
    try {
      const { job, configHash } = decodeJob(record.value)
      this.#noteConfiguration(configHash)
      const evaluation = await this.#evaluate(begun, record, job)
      if (evaluation !== undefined) this.#deliver(partition, record, job, evaluation)
    } catch (error) {
      await this.#moveToDeadLetters(partition, record, error)
    }
  }

  /** Moves a message that is not a job, or whose run cannot be scored, to the dead-letter topic. */
  async #moveToDeadLetters(partition: JudgePartition, record: FetchedRecord, error: unknown): Promise<void> {
    const { counts, moveToDeadLetters, report } = this.#parts
    counts.dead += 1
    report(
      `Message ${record.offset} of partition ${partition.number} of the jobs is moved to the dead-letter topic: ${error instanceof Error ? error.message : 'unknown'}`,
    )
    if (await moveToDeadLetters(partition, record)) partition.finish(record.offset)
  }

  /** @returns the job's result; `undefined` if the job no longer belongs to this process */
  async #evaluate(begun: Begun, record: FetchedRecord, job: JudgeJob): Promise<Evaluation | undefined> {
    const { partition } = begun
    const { scorer, counts } = this.#parts
    let question: HandedQuestion | undefined
    while (!partition.isLost) {
      const reason = this.#whyUnasked(job, record)
      if (reason !== undefined) {
        counts.unasked[reason] += 1
        return scorer.unasked(job, unaskedScore(reason, job))
      }
      question ??= scorer.question(job)
      const turnedDown = question.admit(partition.budget)
      if (turnedDown !== undefined) {
        const why = turnedDown.score.status === 'skipped' ? turnedDown.score.reason : 'failed'
        counts.turnedDown.set(why, (counts.turnedDown.get(why) ?? 0) + 1)
        return turnedDown
      }
      const answer = await this.#ask(begun, record.offset, question)
      if (answer === undefined || partition.isLost) return undefined
      if (!answer.isLeft) {
        counts.asked += 1
        this.#pause.end()
        return answer.evaluation
      }
      counts.left += 1
      partition.didNotAsk(record.offset)
      this.#pause.begin()
      this.#postponed += 1
      await sleep(this.#pause.leftMs)
      this.#postponed -= 1
    }
    return undefined
  }

  /** @returns `undefined` if the partition was lost before the judge could be asked */
  async #ask(begun: Begun, offset: number, question: HandedQuestion): Promise<HandedAnswer | undefined> {
    const { partition } = begun
    partition.willAsk(offset)
    this.#asking += 1
    try {
      while (!(await this.#parts.commits.commit())) {
        if (partition.isLost) return undefined
        await sleep(RETRY_MS)
      }
      if (partition.isLost) return undefined
      begun.question = question
      return await question.ask()
    } finally {
      this.#asking -= 1
      this.#latestMs = this.#parts.monotonicMs()
    }
  }

  #whyUnasked(job: JudgeJob, { appendMs }: FetchedRecord): UnaskedReason | undefined {
    const { scorer, maxJobAgeMs, epochMs } = this.#parts
    const found = scorer.find(job)
    if (found !== 'known') return found
    return epochMs() - appendMs > maxJobAgeMs ? 'expired' : undefined
  }

  #deliver(partition: JudgePartition, { offset, key }: FetchedRecord, job: JudgeJob, evaluation: Evaluation): void {
    const { scorer, outbox, commits } = this.#parts
    outbox.add({
      ...scorer.write(job, evaluation),
      onDelivered: () => {
        partition.finish(offset)
        if (key !== '') this.#delivered.add(key)
        this.#latestMs = this.#parts.monotonicMs()
        if (!partition.isLost) void commits.commit()
      },
    })
  }

  #noteConfiguration(configHash: string): void {
    if (this.#configurations.has(configHash) || this.#configurations.size >= MAX_CONFIGURATIONS) return
    this.#configurations.add(configHash)
    this.#parts.report(
      'A worker writes jobs with another configuration than the one of this judge worker: jobs for judges that differ in their version are skipped.',
    )
  }
}

function inFlightOf(partitions: readonly JudgePartition[]): number {
  return partitions.reduce((sum, { inFlight }) => sum + inFlight, 0)
}

function unaskedScore(reason: UnaskedReason, { scorer: { id, version } }: JudgeJob): Skipped {
  if (reason === 'expired') {
    return said(
      'expired',
      'The job waited for longer than --max-job-age: add judge workers, lower sample, or raise it.',
    )
  }
  const what = reason === 'unknown-scorer' ? `no judge ${id}` : `no judge ${id} of version ${version}`
  return said(
    'judge-unavailable',
    `The judge worker has ${what}: start workers and judge workers with the same configuration.`,
  )
}

function said(reason: Skipped['reason'], message: string): Skipped {
  return { status: 'skipped', reason, message, messageWithoutContent: message }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

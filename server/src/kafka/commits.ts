import { withTimeout } from '../with-timeout.ts'
import { isAnswer, isProtocolError } from './answered-errors.ts'
import type { AssignedPartition } from './assigned-partition.ts'
import type { GroupMember } from './group-member.ts'
import { describeKafkaError } from './kafka-client.ts'
import type { LongCommits } from './long-commits.ts'
import type { Commit } from './offset-states.ts'
import type { WorkerCounts } from './worker-counts.ts'

/** What commits need. */
export interface CommitsParts {
  readonly member: Pick<GroupMember, 'commit' | 'generation'>
  readonly long: Pick<LongCommits, 'isLong' | 'write' | 'shorten'>
  readonly partitions: ReadonlyMap<number, Pick<AssignedPartition, 'log'>>
  readonly counts: WorkerCounts
  readonly report: (message: string) => void
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/** The states of a partition's messages at one moment, by topic. */
interface Cut {
  readonly number: number
  readonly partition: Pick<AssignedPartition, 'log'>
  readonly commits: ReadonlyMap<string, Commit>
  readonly generation: number
  readonly takenMs: number
}

const AGAIN_MS = 200

/**
 * Commits the progress of a worker's partitions to the group's coordinator: most partitions in one request, and those with long commits
 * each for itself, so that the leader of one partition delays none of the others. The topics of a partition are committed together.
 */
export class Commits {
  readonly #parts: CommitsParts
  #underWay: Promise<boolean> | undefined
  /** The partitions whose long commit is in progress. */
  readonly #apart = new Map<number, Promise<boolean>>()
  /** When the latest accepted commit of a partition was taken. */
  readonly #takenMs = new WeakMap<object, number>()
  #isUnanswered = false
  /** Whether a partition no longer existed at the latest commit. */
  #isGone = false

  constructor(parts: CommitsParts) {
    this.#parts = parts
  }

  /** Whether no broker has answered the latest commit. */
  get isUnanswered(): boolean {
    return this.#isUnanswered
  }

  /** For how many milliseconds the progress of a partition has not been committed. */
  ageMs(partition: object): number {
    const nowMs = this.#parts.now()
    return nowMs - (this.#takenMs.get(partition) ?? nowMs)
  }

  /** Called when a partition is read from its committed position. All progress is committed then. */
  begin(partition: object): void {
    this.#takenMs.set(partition, this.#parts.now())
  }

  /**
   * Commits the current progress, and begins to write long commits.
   *
   * @returns whether the broker accepted it, apart from long commits
   */
  commit(): Promise<boolean> {
    this.#underWay ??= this.#commitAll().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  /** Commits the current progress. Retries while the group rebalances or its coordinator moves, but not if a partition no longer exists. */
  async commitUntil(endMs: number): Promise<void> {
    const leftMs = () => Math.max(0, endMs - this.#parts.now())
    // A commit in progress may be older than the latest delivered scores.
    await withTimeout(leftMs(), this.#all(this.#underWay))
    while (leftMs() > 0) {
      let isCommitted = false
      const whole = this.#all(this.commit()).then((accepted) => {
        isCommitted = accepted.every(Boolean)
      })
      await withTimeout(leftMs(), whole)
      if (isCommitted || this.#isGone) return
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }

  /** A commit, and all long ones in progress. */
  #all(commit: Promise<boolean> | undefined): Promise<readonly boolean[]> {
    return Promise.all([commit ?? true, ...this.#apart.values()])
  }

  #commitAll(): Promise<boolean> {
    const { partitions, member, long, now } = this.#parts
    const takenMs = now()
    this.#isGone = false
    const together: Cut[] = []
    for (const [number, partition] of partitions) {
      if (this.#apart.has(number)) continue
      const cut = { number, partition, commits: partition.log.commits(), generation: member.generation, takenMs }
      if (![...cut.commits.values()].some((commit) => long.isLong(commit))) {
        together.push(cut)
        continue
      }
      const apart = this.#commitLong(cut).finally(() => this.#apart.delete(number))
      this.#apart.set(number, apart)
    }
    return this.#send(together, member.generation)
  }

  async #commitLong(cut: Cut): Promise<boolean> {
    const { long, counts, report } = this.#parts
    const commits = new Map<string, Commit>()
    try {
      for (const [topic, commit] of cut.commits) {
        commits.set(topic, long.isLong(commit) ? await long.write(topic, cut.number, commit) : commit)
      }
    } catch (error) {
      counts.failedCommits += 1
      report(`The progress of partition ${cut.number} could not be written to it: ${describeKafkaError(error)}.`)
      return false
    }
    const isAccepted = await this.#send([{ ...cut, commits }], cut.generation)
    if (isAccepted) counts.longCommits += 1
    return isAccepted
  }

  async #send(cuts: readonly Cut[], generation: number): Promise<boolean> {
    const { member, counts, long, report } = this.#parts
    const all = cuts.flatMap(({ number, commits }) =>
      [...commits].map(([topic, commit]) => ({ topic, partition: number, ...commit })),
    )
    try {
      if (all.length > 0)
        await member.commit(
          Map.groupBy(all, ({ topic }) => topic),
          generation,
        )
    } catch (error) {
      counts.failedCommits += 1
      this.#isUnanswered = !isAnswer(error)
      // The broker has accepted the commits of all other partitions.
      this.#isGone ||= isProtocolError(error, 'UNKNOWN_TOPIC_OR_PARTITION')
      const accepted = isProtocolError(error, 'OFFSET_METADATA_TOO_LARGE') ? long.shorten(all) : undefined
      report(
        accepted === undefined
          ? `Progress could not be committed: ${describeKafkaError(error)}.`
          : `The brokers accept less metadata of a commit than by default (offset.metadata.max.bytes): states of more than ${accepted} characters are written to their partition from now on.`,
      )
      return false
    }
    for (const { partition, takenMs } of cuts) this.#takenMs.set(partition, takenMs)
    if (all.length > 0) {
      this.#isUnanswered = false
      counts.commits += 1
    }
    return true
  }
}

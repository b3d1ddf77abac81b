import type { AssignedPartition } from './assigned-partition.ts'
import type { GroupMember } from './group-member.ts'
import { isAnswer, isProtocolError } from './answered-errors.ts'
import { describeError } from './kafka-client.ts'
import type { Commit } from './offset-states.ts'
import type { WorkerCounts } from './worker-counts.ts'

/** What commits need. */
export interface CommitsParts {
  readonly member: GroupMember
  readonly partitions: ReadonlyMap<number, AssignedPartition>
  readonly counts: WorkerCounts
  /** Maximum bytes of a commit's metadata. */
  readonly maxCommitBytes: number
  readonly report: (message: string) => void
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/** A partition is named if its states have not fitted into a commit for this long. Carrying messages forward may make room before. */
const OVERSIZED_MS = 10_000

const AGAIN_MS = 200

/** Commits the progress of a worker's partitions to the group's coordinator. */
export class Commits {
  readonly #parts: CommitsParts
  #underWay: Promise<boolean> | undefined
  #takenMs: number
  #isUnanswered = false
  #isGone = false
  /** By partition, since when its states do not fit into a commit. */
  #oversized: ReadonlyMap<number, number> = new Map()

  constructor(parts: CommitsParts) {
    this.#parts = parts
    this.#takenMs = parts.now()
  }

  /** For how many milliseconds progress has not been committed. */
  get ageMs(): number {
    return this.#parts.now() - this.#takenMs
  }

  /** Whether no broker has answered the latest commit. */
  get isUnanswered(): boolean {
    return this.#isUnanswered
  }

  /** Partitions whose states have not fitted into a commit for a while, so that their progress is not committed. */
  get oversized(): readonly number[] {
    const beforeMs = this.#parts.now() - OVERSIZED_MS
    return [...this.#oversized].filter(([, sinceMs]) => sinceMs <= beforeMs).map(([partition]) => partition)
  }

  /** Called when partitions are read from their committed positions. All progress is committed then. */
  begin(): void {
    this.#takenMs = this.#parts.now()
  }

  /** @returns whether the broker accepted it */
  commit(): Promise<boolean> {
    this.#underWay ??= this.#commitNow().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  /** Commits the current progress. Retries while the group rebalances or its coordinator moves, but not if a partition no longer exists. */
  async commitUntil(endMs: number): Promise<void> {
    // A commit in progress may be older than the latest delivered scores.
    await this.#underWay
    while (!(await this.commit()) && !this.#isGone && this.#parts.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }

  async #commitNow(): Promise<boolean> {
    const { member, partitions, counts, report } = this.#parts
    const startMs = this.#parts.now()
    const positions = this.#positionsOf(partitions)
    try {
      if (positions.size > 0) await member.commit(positions)
      this.#takenMs = startMs
      this.#isUnanswered = false
      counts.commits += 1
      return true
    } catch (error) {
      counts.failedCommits += 1
      this.#isUnanswered = !isAnswer(error)
      // The broker has accepted the commits of all other partitions.
      this.#isGone = isProtocolError(error, 'UNKNOWN_TOPIC_OR_PARTITION')
      report(`Progress could not be committed: ${describeError(error)}.`)
      return false
    }
  }

  /** What to commit of partitions, by topic. */
  #positionsOf(
    partitions: ReadonlyMap<number, AssignedPartition>,
  ): ReadonlyMap<string, readonly (Commit & { readonly partition: number })[]> {
    const { maxCommitBytes, counts, now } = this.#parts
    const all = [...partitions].flatMap(([partition, { log }]) =>
      [...log.commits()].map(([topic, commit]) => ({ topic, partition, ...commit })),
    )
    const [oversized = [], fitting = []] = [true, false].map((isOversized) =>
      all.filter(({ metadata }) => metadata.length > maxCommitBytes === isOversized),
    )
    counts.oversizedCommits += oversized.length
    this.#oversized = new Map(
      oversized.map(({ partition }) => [partition, this.#oversized.get(partition) ?? now()] as const),
    )
    // If the states do not fit, the earlier commit is still valid.
    return Map.groupBy(fitting, ({ topic }) => topic)
  }
}

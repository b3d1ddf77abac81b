import { within } from '../../within.ts'
import { FailingTime } from '../failing-time.ts'
import type { GroupMember } from '../group-member.ts'
import { describeError } from '../kafka-client.ts'
import type { LongCommits } from '../long-commits.ts'
import type { JudgePartition } from './judge-partition.ts'

/** What commits need. */
export interface JudgeCommitsParts {
  readonly member: Pick<GroupMember, 'commit' | 'generation'>
  readonly long: Pick<LongCommits, 'isLong' | 'write'>
  readonly topic: string
  readonly partitions: ReadonlyMap<number, JudgePartition>
  readonly report: (message: string) => void
  /** Called when the broker has accepted a commit. */
  readonly onCommitted: () => void
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/** What commits count. */
export interface JudgeCommitCounts {
  taken: number
  failed: number
}

const AGAIN_MS = 200
/** A last commit gets at least this time, however long jobs took. */
const LEAST_MS = 1000

/**
 * Commits to the group's coordinator which jobs are done, and the spending. One request is in progress at a time; later changes go into the
 * next one.
 */
export class JudgeCommits {
  readonly #parts: JudgeCommitsParts
  readonly counts: JudgeCommitCounts = { taken: 0, failed: 0 }
  #running: Promise<boolean> = Promise.resolve(true)
  #next: Promise<boolean> | undefined
  readonly #failing: FailingTime

  constructor(parts: JudgeCommitsParts) {
    this.#parts = parts
    this.#failing = new FailingTime(parts.now)
  }

  /** For how many milliseconds commits have failed; 0 if they work. */
  get failingForMs(): number {
    return this.#failing.ms
  }

  /**
   * Commits all changes so far.
   *
   * @returns whether the broker accepted it, which means that the group considers this process the owner of the partitions
   */
  commit(): Promise<boolean> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      this.#running = this.#commitNow()
      return this.#running
    })
    return this.#next
  }

  /** Commits all changes so far. Retries while the group rebalances or its coordinator moves. */
  async commitUntil(endMs: number): Promise<void> {
    const leftMs = () => Math.max(0, endMs - this.#parts.now())
    let isCommitted = false
    const commit = async (): Promise<void> => {
      isCommitted = await this.commit()
    }
    // A coordinator that does not answer must not delay the return to the group beyond its timeout.
    for (;;) {
      await within(Math.max(leftMs(), LEAST_MS), commit())
      if (isCommitted || leftMs() === 0) return
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }

  async #commitNow(): Promise<boolean> {
    const { member, long, topic, partitions, report, onCommitted } = this.#parts
    const { generation } = member
    const commits = [...partitions.values()].flatMap((partition) => {
      const commit = partition.takeCommit()
      return commit === undefined ? [] : [{ partition, commit }]
    })
    if (commits.length === 0) return true
    try {
      const positions = commits.map(async ({ partition: { number }, commit: { commit } }) => ({
        ...(long.isLong(commit) ? await long.write(topic, number, commit) : commit),
        partition: number,
      }))
      await member.commit(new Map([[topic, await Promise.all(positions)]]), generation)
    } catch (error) {
      this.counts.failed += 1
      this.#failing.failed()
      for (const { partition } of commits) partition.notCommitted()
      report(`Finished jobs could not be committed: ${describeError(error)}.`)
      return false
    }
    this.counts.taken += 1
    this.#failing.ended()
    for (const { partition, commit } of commits) partition.committed(commit)
    onCommitted()
    return true
  }
}

import type { AssignedPartition } from './assigned-partition.ts'
import type { GroupMember } from './group-member.ts'
import { isAnswer } from './answered-errors.ts'
import { describeError } from './kafka-client.ts'
import type { Commit } from './offset-states.ts'
import type { WorkerCounts } from './worker-counts.ts'

/** What commits need. */
export interface CommitsParts {
  readonly member: GroupMember
  readonly partitions: ReadonlyMap<number, AssignedPartition>
  readonly counts: WorkerCounts
  readonly report: (message: string) => void
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/** Characters of a commit's metadata. The broker takes 4,096. */
const MAX_METADATA = 4000

const AGAIN_MS = 200

/** Writes down at the group's coordinator how far the partitions of a worker are done. */
export class Commits {
  readonly #parts: CommitsParts
  #underWay: Promise<boolean> | undefined
  #takenMs: number
  #isUnanswered = false

  constructor(parts: CommitsParts) {
    this.#parts = parts
    this.#takenMs = parts.now()
  }

  /** For how long nothing that was done has been written down, in milliseconds. */
  get ageMs(): number {
    return this.#parts.now() - this.#takenMs
  }

  /** Whether no broker has answered the latest commit. */
  get isUnanswered(): boolean {
    return this.#isUnanswered
  }

  /** Partitions were read from what was committed: nothing is done that is not written down. */
  begin(): void {
    this.#takenMs = this.#parts.now()
  }

  /** @returns Whether the broker has taken it */
  commit(): Promise<boolean> {
    this.#underWay ??= this.#commitNow().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  /** Commits what is done by now. While the group shares partitions out, or its coordinator moves, it is tried again. */
  async commitUntil(endMs: number): Promise<void> {
    // One that is under way may have been made before the latest scores were delivered.
    await this.#underWay
    while (!(await this.commit()) && this.#parts.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }

  async #commitNow(): Promise<boolean> {
    const { member, partitions, counts, report } = this.#parts
    const startMs = this.#parts.now()
    const positions = positionsOf(partitions)
    try {
      if (positions.size > 0) await member.commit(positions)
      this.#takenMs = startMs
      this.#isUnanswered = false
      counts.commits += 1
      return true
    } catch (error) {
      counts.failedCommits += 1
      this.#isUnanswered = !isAnswer(error)
      report(`What was done could not be committed: ${describeError(error)}.`)
      return false
    }
  }
}

/** What to commit of partitions, by topic. */
function positionsOf(
  partitions: ReadonlyMap<number, AssignedPartition>,
): ReadonlyMap<string, readonly (Commit & { readonly partition: number })[]> {
  const all = [...partitions].flatMap(([partition, { log }]) =>
    [...log.commits()].map(([topic, commit]) => ({ topic, partition, ...commit })),
  )
  // Where the states do not fit, what was committed before is still true, and what is carried forward makes room.
  return Map.groupBy(
    all.filter(({ metadata }) => metadata.length <= MAX_METADATA),
    ({ topic }) => topic,
  )
}

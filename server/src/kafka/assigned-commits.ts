import type { GroupMember } from './group-member.ts'
import { describeKafkaError } from './kafka-client.ts'
import type { LongCommits } from './long-commits.ts'
import type { Commit } from './offset-states.ts'

/** What reading commits needs. */
export interface AssignedCommitsParts {
  readonly member: Pick<GroupMember, 'committed'>
  readonly long: Pick<LongCommits, 'isElsewhere' | 'read'>
  readonly topics: readonly string[]
  readonly report: (message: string) => void
}

const RETRY_MS = 500

/** Reads the last owners' commits of newly assigned partitions. One whose leader does not answer delays none of the others. */
export class AssignedCommits {
  readonly #parts: AssignedCommitsParts
  readonly #waiting = new Map<number, object>()

  constructor(parts: AssignedCommitsParts) {
    this.#parts = parts
  }

  /** Partitions that wait until their long commit can be read. */
  get waiting(): readonly number[] {
    return [...this.#waiting.keys()]
  }

  /** Forgets all waiting partitions that are no longer assigned. */
  keep(assigned: readonly number[]): void {
    for (const number of this.#waiting.keys()) if (!assigned.includes(number)) this.#waiting.delete(number)
  }

  /**
   * @param onRead called with the commit of each topic that has one: before this resolves, or, for a long commit, as soon as it is read, if
   *   the partition is still assigned then
   * @throws if the group's coordinator does not answer
   */
  async read(number: number, onRead: (commits: ReadonlyMap<string, Commit>) => void): Promise<void> {
    if (this.#waiting.has(number)) return
    const { member, long, topics } = this.#parts
    const commits = new Map<string, Commit>()
    for (const topic of topics) {
      const commit = await member.committed(topic, number)
      if (commit !== undefined) commits.set(topic, commit)
    }
    if ([...commits.values()].some((commit) => long.isElsewhere(commit))) void this.#readLong(number, commits, onRead)
    else onRead(commits)
  }

  async #readLong(
    number: number,
    commits: ReadonlyMap<string, Commit>,
    onRead: (commits: ReadonlyMap<string, Commit>) => void,
  ): Promise<void> {
    const { long, report } = this.#parts
    const self = {}
    this.#waiting.set(number, self)
    const isWanted = () => this.#waiting.get(number) === self
    while (isWanted()) {
      try {
        const whole = new Map<string, Commit>()
        for (const [topic, commit] of commits) whole.set(topic, await long.read(topic, number, commit))
        if (!isWanted()) return
        this.#waiting.delete(number)
        onRead(whole)
        return
      } catch (error) {
        report(`The progress of partition ${number} could not be read from it: ${describeKafkaError(error)}.`)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }
}

import type { AppendTimes } from './append-times.ts'
import type { Commits } from './commits.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { EndOffsets } from './end-offsets.ts'
import type { GroupMember } from './group-member.ts'
import type { Refusals } from './refusals.ts'

/** The facts about a partition. */
export interface WatchedPartition {
  readonly number: number
  /** Unread messages. */
  readonly lag: number
  /** For how many milliseconds messages have waited without any being read, although their leader answers. */
  readonly idleMs: number
  /** Whether the leader of a topic does not answer. */
  readonly isSilent: boolean
  readonly buffer: { readonly isFull: boolean }
}

/** What the condition of a worker follows from. */
export interface WorkerConditionParts {
  /** The partitions of the worker, by their numbers. */
  readonly partitions: ReadonlyMap<number, WatchedPartition>
  readonly member: Pick<GroupMember, 'isJoined'>
  readonly ends: Pick<EndOffsets, 'outgrown'>
  readonly refusals: Pick<Refusals, 'reason'>
  readonly commits: Pick<Commits, 'ageMs' | 'isUnanswered'>
  /** Assigned partitions whose commit cannot be read yet. */
  readonly waiting: () => readonly number[]
  readonly deadLetters: Pick<DeadLetters, 'unavailable'>
  readonly times: Pick<AppendTimes, 'unavailable'>
  /** How long spans wait for their parent: a full buffer may wait this long for an incomplete run. */
  readonly orphanMs: number
  /** Whether the group rebalances, or the worker stops. */
  readonly isPaused: () => boolean
  /** Whether scores wait for their destination. */
  readonly isHeldUp: () => boolean
}

/** If nothing is read for this long while messages wait, the worker is idle. */
const IDLE_MS = 30_000
/** Readiness fails if commits are missing for this long. */
const UNCOMMITTED_MS = 10_000

/** Whether a worker works, and if not, whether a restart would help. */
export class WorkerCondition {
  readonly #parts: WorkerConditionParts

  constructor(parts: WorkerConditionParts) {
    this.#parts = parts
  }

  /** Why nothing is read although brokers have messages and scores are delivered. */
  get idle(): string | undefined {
    if (!this.#isMeantToRead) return undefined
    const { partitions, orphanMs, refusals } = this.#parts
    for (const { number, lag, idleMs, buffer } of partitions.values()) {
      if (idleMs < IDLE_MS + (buffer.isFull ? orphanMs : 0)) continue
      const why = refusals.reason === undefined ? '' : ` ${refusals.reason}.`
      return `Nothing was read from partition ${number} for ${Math.round(idleMs / 1000)} s although ${lag} messages wait.${why}`
    }
    return undefined
  }

  /**
   * Why the worker should be restarted. Brokers that do not answer, or that refuse something, are not a reason: a restart does not help,
   * and the worker goes on by itself.
   */
  get stuck(): string | undefined {
    const { ends, refusals } = this.#parts
    if (!this.#isMeantToRead) return undefined
    return ends.outgrown ?? (refusals.reason === undefined ? this.idle : undefined)
  }

  /** Why the worker does not score all of its partitions now. */
  get unavailable(): string | undefined {
    const { partitions, refusals, commits, deadLetters, times, waiting, isPaused } = this.#parts
    if (refusals.reason !== undefined) return `${refusals.reason}.`
    const unread = whyWaiting(waiting())
    if (unread !== undefined) return unread
    if (partitions.size === 0) return 'No partition is assigned to this worker.'
    for (const partition of partitions.values()) {
      const ageMs = commits.ageMs(partition)
      if (ageMs < UNCOMMITTED_MS) continue
      return `Nothing could be committed for partition ${partition.number} for ${Math.round(ageMs / 1000)} s: its runs wait for the brokers.`
    }
    if (isPaused()) return undefined
    return whySilent(partitions.values()) ?? deadLetters.unavailable ?? times.unavailable
  }

  get #isMeantToRead(): boolean {
    const { member, commits, isPaused, isHeldUp } = this.#parts
    return member.isJoined && !isPaused() && !isHeldUp() && !commits.isUnanswered
  }
}

/** What readiness says if leaders of partitions do not answer; `undefined` if all do. */
function whySilent(partitions: Iterable<Pick<WatchedPartition, 'number' | 'isSilent'>>): string | undefined {
  const silent = [...partitions].filter(({ isSilent }) => isSilent).map(({ number }) => number)
  return silent.length === 0
    ? undefined
    : `Partition ${silent.join(', ')} cannot be read: no broker that leads it answers.`
}

/** What readiness says if commits of partitions cannot be read; `undefined` if there are none. */
function whyWaiting(partitions: readonly number[]): string | undefined {
  return partitions.length === 0
    ? undefined
    : `Partition ${partitions.join(', ')} cannot be taken over: no broker that leads it answers, and what was committed is there.`
}

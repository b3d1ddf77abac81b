import { assignPartitions } from './assign-partitions.ts'
import type { Member } from './assign-partitions.ts'
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from './consumer-protocol.ts'
import { assignedMemberId, isProtocolError } from './answered-errors.ts'
import type { KafkaClient } from './kafka-client.ts'
import type { Commit } from './offset-states.ts'
import type { Refusals } from './refusals.ts'
import { COMMIT, FETCH_OFFSETS, HEARTBEAT, JOIN, LEAVE, SYNC } from './requests.ts'

/** What a member of a consumer group needs. */
export interface GroupMemberParts {
  readonly client: Pick<KafkaClient, 'send' | 'findCoordinator'>
  readonly groupId: string
  /** Topics whose partitions of the same number belong together. */
  readonly topics: readonly string[]
  readonly partitionCount: number
  readonly sessionTimeoutMs: number
  /** A hash of everything that all members should have in common. */
  readonly configHash: string
  /** The group is about to rebalance: commit progress, and start nothing new. */
  readonly onRebalance: () => Promise<void>
  /** Called with the partitions that this member has from now on. */
  readonly onAssigned: (partitions: readonly number[]) => Promise<void>
  readonly refusals: Refusals
  readonly report: (message: string) => void
}

/** How workers assign partitions: the name by which brokers distinguish them from other consumers. */
export const PROTOCOL = 'spanscore-sticky'

const RETRY_MS = 500
const HEARTBEATS_IN_A_SESSION = 5
/** How long the group waits, at least, until all members have joined again. */
const LEAST_REBALANCE_MS = 15_000

/**
 * A member of a consumer group in the classic protocol (https://kafka.apache.org/protocol): joins, assigns partitions as leader, sends
 * heartbeats, and commits offsets with metadata. If the coordinator moves or is unavailable, it is looked up again.
 */
export class GroupMember {
  readonly #parts: GroupMemberParts
  #memberId = ''
  #generation = -1
  #owned: readonly number[] = []
  #coordinator: number | undefined
  #isStopped = false
  #isJoined = false
  /** Whether nothing was started since the group began to rebalance. */
  #isAtRest = false
  #wake: () => void = () => undefined
  #loop: Promise<void> | undefined

  constructor(parts: GroupMemberParts) {
    this.#parts = parts
  }

  /** Whether, as far as is known, no other member has the same partitions. */
  get isJoined(): boolean {
    return this.#isJoined
  }

  /** Joins, and remains a member until `leave`. */
  start(): void {
    this.#loop ??= this.#run()
  }

  /** The one in which this member got its partitions. It increases whenever the group shares out its partitions again. */
  get generation(): number {
    return this.#generation
  }

  /**
   * Commits positions of partitions, by topic.
   *
   * @param generation the one in which they were taken: in a later one, another member may own the partitions
   * @throws if the broker refuses them
   */
  async commit(
    positions: ReadonlyMap<string, readonly (Commit & { readonly partition: number })[]>,
    generation: number,
  ): Promise<void> {
    await this.#ask((coordinator) =>
      this.#parts.client.send(
        coordinator,
        COMMIT,
        this.#parts.groupId,
        generation,
        this.#memberId,
        null,
        [...positions].map(([name, partitions]) => ({
          name,
          partitions: partitions.map(({ partition, offset, metadata }) => ({
            partitionIndex: partition,
            committedOffset: BigInt(offset),
            committedLeaderEpoch: -1,
            committedMetadata: metadata,
          })),
        })),
      ),
    )
  }

  /** The commit of a topic's partition; `undefined` if there is none. */
  async committed(topic: string, partition: number): Promise<Commit | undefined> {
    const { groups } = await this.#ask((coordinator) =>
      this.#parts.client.send(
        coordinator,
        FETCH_OFFSETS,
        [
          {
            groupId: this.#parts.groupId,
            memberId: null,
            memberEpoch: -1,
            topics: [{ name: topic, partitionIndexes: [partition] }],
          },
        ],
        false,
      ),
    )
    const found = groups[0]?.topics[0]?.partitions[0]
    if (found === undefined || found.committedOffset < 0n) return undefined
    return { offset: Number(found.committedOffset), metadata: found.metadata ?? '' }
  }

  /** Leaves the group, so that others take over without waiting for the session timeout. */
  async leave(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    await this.#loop
    if (this.#memberId === '') return
    const { client, groupId } = this.#parts
    const memberId = this.#memberId
    await this.#ask((coordinator) => client.send(coordinator, LEAVE, groupId, [{ memberId }])).catch(() => undefined)
  }

  async #run(): Promise<void> {
    const { sessionTimeoutMs, groupId, refusals, report } = this.#parts
    const heartbeatMs = Math.floor(sessionTimeoutMs / HEARTBEATS_IN_A_SESSION)
    while (!this.#isStopped) {
      try {
        if (!this.#isJoined) await this.#join()
        await this.#pause(heartbeatMs)
        if (this.#isStopped) break
        await this.#heartbeat()
        refusals.groupSucceeded(groupId)
      } catch (error) {
        if (isProtocolError(error, 'REBALANCE_IN_PROGRESS')) {
          // If it rebalances again meanwhile, there is nothing to commit, and it would be refused.
          if (!this.#isAtRest) await this.#parts.onRebalance()
          this.#isAtRest = true
          this.#isJoined = false
          continue
        }
        if (isProtocolError(error, 'UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID')) {
          report('The group went on without this member: it joins again, and reads again what it had not committed.')
          // The coordinator still knows a member that is only a generation behind. Under a new id, the group would wait for the old one.
          if (!isProtocolError(error, 'ILLEGAL_GENERATION')) this.#memberId = ''
          await this.#drop()
          continue
        }
        report(`The group of workers could not be reached: ${refusals.groupFailed(groupId, error)}.`)
        // Another member may have the partitions by now. The next commit shows whether it does.
        await this.#pause(RETRY_MS)
      }
    }
    this.#isJoined = false
  }

  async #drop(): Promise<void> {
    this.#isJoined = false
    if (this.#owned.length === 0) return
    this.#owned = []
    await this.#parts.onAssigned([])
  }

  async #join(): Promise<void> {
    const { client, groupId, sessionTimeoutMs, configHash } = this.#parts
    const metadata = encodeSubscription(this.#parts.topics, this.#owned, configHash)
    let joined
    try {
      joined = await this.#ask((coordinator) =>
        client.send(
          coordinator,
          JOIN,
          groupId,
          sessionTimeoutMs,
          Math.max(LEAST_REBALANCE_MS, sessionTimeoutMs),
          this.#memberId,
          null,
          'consumer',
          [{ name: PROTOCOL, metadata }],
          '',
        ),
      )
    } catch (error) {
      const memberId = assignedMemberId(error)
      if (memberId === undefined) throw error
      // A new member first receives its id, then joins with it (KIP-394).
      this.#memberId = memberId
      return await this.#join()
    }
    this.#memberId = joined.memberId ?? this.#memberId
    const { generationId } = joined
    const isLeader = joined.leader === this.#memberId
    const assignments = isLeader ? this.#share(joined.members) : []
    const { assignment } = await this.#ask((coordinator) =>
      client.send(coordinator, SYNC, groupId, generationId, this.#memberId, null, 'consumer', PROTOCOL, assignments),
    )
    // In a generation that this member missed, others may have had its partitions. They are read from their commits again.
    const hasMissedOne = generationId !== this.#generation && generationId !== this.#generation + 1
    this.#isAtRest = false
    if (hasMissedOne && this.#owned.length > 0) await this.#parts.onAssigned([])
    // From now on commits are accepted, so from now on there are only partitions of this generation.
    this.#generation = generationId
    this.#owned = decodeAssignment(assignment)
    await this.#parts.onAssigned(this.#owned)
    this.#isJoined = true
  }

  #share(members: readonly { readonly memberId: string; readonly metadata: Buffer | null }[]) {
    const { topics, partitionCount, configHash, report } = this.#parts
    const known = members.map(({ memberId, metadata }) => ({ id: memberId, ...decodeSubscription(metadata) }))
    const others = known.filter((member) => member.configHash !== configHash)
    if (others.length > 0) {
      report(
        `${others.length} of ${known.length} workers have another configuration than this one: which scorers score a run depends on who reads it.`,
      )
    }
    return [...assignPartitions(known satisfies readonly Member[], partitionCount)].map(([memberId, partitions]) => ({
      memberId,
      assignment: encodeAssignment(topics, partitions),
    }))
  }

  async #heartbeat(): Promise<void> {
    const { client, groupId } = this.#parts
    await this.#ask((coordinator) =>
      client.send(coordinator, HEARTBEAT, groupId, this.#generation, this.#memberId, null),
    )
  }

  /** Asks the coordinator. If it has moved or is unavailable, the next call looks it up again. */
  async #ask<Answer>(ask: (coordinator: number) => Promise<Answer>): Promise<Answer> {
    this.#coordinator ??= await this.#parts.client.findCoordinator(this.#parts.groupId)
    try {
      return await ask(this.#coordinator)
    } catch (error) {
      if (!isProtocolError(error, ...STAY)) this.#coordinator = undefined
      throw error
    }
  }

  async #pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      timer = setTimeout(resolve, ms)
    })
    clearTimeout(timer)
  }
}

/** Errors of the right coordinator. */
const STAY = [
  'REBALANCE_IN_PROGRESS',
  'UNKNOWN_MEMBER_ID',
  'ILLEGAL_GENERATION',
  'FENCED_INSTANCE_ID',
  'MEMBER_ID_REQUIRED',
  'OFFSET_METADATA_TOO_LARGE',
]

import type { BaseOptions } from '@platformatic/kafka'

import { AssignedCommits } from './assigned-commits.ts'
import { DeadLetters } from './dead-letters.ts'
import { EndOffsets } from './end-offsets.ts'
import type { Ending } from './end-offsets.ts'
import { recordAt } from './fetch-request.ts'
import { GroupMember } from './group-member.ts'
import type { GroupMemberParts } from './group-member.ts'
import { KafkaClient } from './kafka-client.ts'
import { LongCommits } from './long-commits.ts'
import { otherGroups } from './other-groups.ts'
import { RecordWriter } from './record-writer.ts'
import { Refusals } from './refusals.ts'
import { TopicFetcher } from './topic-fetcher.ts'
import type { TopicFetcherParts } from './topic-fetcher.ts'

/** What a reader needs. */
export interface GroupReaderParts
  extends
    Pick<GroupMemberParts, 'topics' | 'partitionCount' | 'configHash' | 'onRebalance' | 'onAssigned'>,
    Pick<TopicFetcherParts, 'sources' | 'report' | 'onTimes'> {
  readonly options: Pick<GroupMemberParts, 'groupId' | 'sessionTimeoutMs'>
  readonly base: BaseOptions
  /** The topic for unreadable messages. */
  readonly deadTopic: string
  /** The partitions of this process. */
  readonly partitions: ReadonlyMap<number, Ending>
}

/** Reads the topics of workers, as a member of a consumer group. */
export class GroupReader {
  readonly member: GroupMember
  readonly ends: EndOffsets
  readonly writer: RecordWriter
  readonly longCommits: LongCommits
  readonly assignedCommits: AssignedCommits
  readonly deadLetters: DeadLetters
  readonly refusals: Refusals = new Refusals(() => performance.now())
  readonly #parts: GroupReaderParts
  readonly #clients: readonly [KafkaClient, KafkaClient]
  readonly #fetcher: TopicFetcher
  #fetching: Promise<void> | undefined

  constructor(parts: GroupReaderParts) {
    this.#parts = parts
    const { base, options, topics, deadTopic, report } = parts
    // A fetch waits at the broker, and blocks later requests on the same connection.
    const control = new KafkaClient(base)
    const reading = new KafkaClient(base)
    this.#clients = [control, reading]
    this.writer = new RecordWriter(base)
    const { writer, refusals } = this
    this.deadLetters = new DeadLetters({ writer, refusals, topic: deadTopic, report, now: () => performance.now() })
    this.member = new GroupMember({ ...options, ...parts, client: control, refusals })
    this.longCommits = new LongCommits({ writer, recordAt: (...where) => recordAt(control, ...where) })
    this.assignedCommits = new AssignedCommits({ member: this.member, long: this.longCommits, topics, report })
    this.ends = new EndOffsets({ ...parts, client: control, now: () => performance.now() })
    this.#fetcher = new TopicFetcher({ ...parts, client: reading, refusals })
  }

  /** Joins the group, and reads its assigned partitions. */
  start(): void {
    this.member.start()
    this.#fetching = this.#fetcher.run()
    // A user without permission to look at groups is not warned, and reads anyway.
    void this.#warn().catch(() => undefined)
  }

  stopReading(): void {
    this.assignedCommits.keep([])
    this.#fetcher.stop()
  }

  /** Resolves when reading has stopped and all connections are closed. */
  async close(): Promise<void> {
    await this.#fetching
    await this.writer.close()
    await Promise.all(this.#clients.map((client) => client.close()))
  }

  async #warn(): Promise<void> {
    const { options, topics, report } = this.#parts
    const others = await otherGroups(this.#clients[0], options.groupId, topics)
    if (others.length === 0) return
    report(
      `The group ${others.join(', ')} reads ${topics.join(', ')} too, and does all of the work a second time. If that is not intended, start all with the same --group, not with ${options.groupId}.`,
    )
  }
}

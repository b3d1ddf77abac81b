import type { KafkaClient } from './kafka-client.ts'
import { LIST_OFFSETS } from './requests.ts'

/** The isolation level of requests: the Collector does not use transactions. */
const READ_UNCOMMITTED = 0

/** Special times of Kafka's protocol. */
const TIMES = { first: -2n, end: -1n } as const

/** An offset of one partition of a topic. */
export interface PartitionOffset {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/**
 * Asks for the first offset of each of these partitions, or the offset after the last one.
 *
 * @returns an answer for each leader, without partitions that have no leader
 * @throws if no broker answers
 */
export async function askForOffsets(
  client: KafkaClient,
  which: keyof typeof TIMES,
  partitions: readonly { readonly topic: string; readonly partition: number }[],
): Promise<readonly Promise<readonly PartitionOffset[]>[]> {
  const topics = [...new Set(partitions.map(({ topic }) => topic))]
  const metadata = await client.metadata(topics)
  const byLeader = Map.groupBy(
    partitions,
    ({ topic, partition }) => metadata.topics.get(topic)?.partitions[partition]?.leader ?? -1,
  )
  return [...byLeader]
    .filter(([node]) => node >= 0)
    .map(async ([node, ofNode]) => {
      const asked = [...Map.groupBy(ofNode, ({ topic }) => topic)].map(([name, ofTopic]) => ({
        name,
        partitions: ofTopic.map(({ partition }) => ({
          partitionIndex: partition,
          currentLeaderEpoch: -1,
          timestamp: TIMES[which],
        })),
      }))
      const answer = await client.send(node, LIST_OFFSETS, -1, READ_UNCOMMITTED, asked)
      return answer.topics.flatMap(({ name, partitions: ofTopic }) =>
        ofTopic.map(({ partitionIndex, offset }) => ({
          topic: name,
          partition: partitionIndex,
          offset: Number(offset),
        })),
      )
    })
}

/** The same, from all leaders. @throws if one of them does not answer */
export async function listOffsets(...asked: Parameters<typeof askForOffsets>): Promise<readonly PartitionOffset[]> {
  return (await Promise.all(await askForOffsets(...asked))).flat()
}

/** How often the ends of partitions are checked. */
const LOOK_EVERY_MS = 5000

/** A partition, or those of several topics with one number. */
export interface Ending {
  /** Called with its end, as the broker reports it. */
  endsAt(topic: string, end: number): void
}

/** What looking at the ends of partitions needs. */
export interface EndOffsetsParts {
  readonly client: KafkaClient
  /** The partitions of this process. */
  readonly partitions: ReadonlyMap<number, Ending>
  readonly topics: readonly string[]
  /** The number of partitions of each topic at the start. */
  readonly partitionCount: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/** Checks where partitions end, and how many there are, without reading them, because reading may be what fails. */
export class EndOffsets {
  readonly #parts: EndOffsetsParts
  #latestMs = Number.NEGATIVE_INFINITY
  #outgrown: string | undefined

  constructor(parts: EndOffsetsParts) {
    this.#parts = parts
  }

  /** Why the process should be restarted: a topic has other partitions than those that the group assigns. `undefined` if none does. */
  get outgrown(): string | undefined {
    return this.#outgrown
  }

  /** Does not wait for the brokers: an unavailable one must not delay anything else. */
  look(): void {
    const { now } = this.#parts
    if (now() - this.#latestMs < LOOK_EVERY_MS) return
    this.#latestMs = now()
    // The fetcher and the group member use the same brokers, and report errors.
    void this.#look().catch(() => undefined)
  }

  async #look(): Promise<void> {
    const { client, partitions, topics, partitionCount } = this.#parts
    const asked = [...partitions.keys()].flatMap((partition) => topics.map((topic) => ({ topic, partition })))
    for (const ends of await askForOffsets(client, 'end', asked)) void this.#note(ends)
    const metadata = await client.metadata(topics)
    const countOf = (topic: string) => metadata.topics.get(topic)?.partitionsCount ?? partitionCount
    const changed = topics.find((topic) => countOf(topic) !== partitionCount)
    this.#outgrown =
      changed === undefined
        ? undefined
        : `${changed} has ${countOf(changed)} partitions, and had ${partitionCount} when this process started: ${countOf(changed) > partitionCount ? 'nobody reads the new ones' : 'nothing can be committed for those that are gone'}. Restart all processes of the group.`
  }

  /** A leader that does not answer delays none of the others. */
  async #note(asked: Promise<readonly PartitionOffset[]>): Promise<void> {
    const ends = await asked.catch(() => [])
    for (const { topic, partition, offset } of ends) this.#parts.partitions.get(partition)?.endsAt(topic, offset)
  }
}

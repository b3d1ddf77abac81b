import { listOffsetsV7, listOffsetsV8, listOffsetsV9 } from '@platformatic/kafka'

import type { KafkaClient } from './kafka-client.ts'

const LIST_OFFSETS = [listOffsetsV7.api, listOffsetsV8.api, listOffsetsV9.api]

/** The isolation level of requests: the Collector writes no transactions. */
const READ_UNCOMMITTED = 0

/** Special times of Kafka's protocol. */
const TIMES = { first: -2n, end: -1n } as const

/** An offset of one partition of a topic. */
export interface PartitionOffset {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/** The first offset that is on each of these partitions, or the offset after the last one. @throws where a broker is away */
export async function listOffsets(
  client: KafkaClient,
  which: keyof typeof TIMES,
  partitions: readonly { readonly topic: string; readonly partition: number }[],
): Promise<readonly PartitionOffset[]> {
  const topics = [...new Set(partitions.map(({ topic }) => topic))]
  const metadata = await client.metadata(topics)
  const byLeader = Map.groupBy(
    partitions,
    ({ topic, partition }) => metadata.topics.get(topic)?.partitions[partition]?.leader ?? -1,
  )
  const found = await Promise.all(
    [...byLeader]
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
      }),
  )
  return found.flat()
}

/** How often it is looked where partitions end. */
const LOOK_EVERY_MS = 5000

/** A partition, or those of several topics with one number. */
interface Ending {
  /** The broker says where it ends. */
  endsAt(topic: string, end: number): void
}

/** Looks where partitions end without reading them: reading may be what does not work. */
export class EndOffsets {
  readonly #client: KafkaClient
  readonly #partitions: ReadonlyMap<number, Ending>
  readonly #topics: readonly string[]
  readonly #now: () => number
  #latestMs = Number.NEGATIVE_INFINITY

  /** @param now Milliseconds of a monotonic clock. */
  constructor(
    client: KafkaClient,
    partitions: ReadonlyMap<number, Ending>,
    topics: readonly string[],
    now: () => number,
  ) {
    this.#client = client
    this.#partitions = partitions
    this.#topics = topics
    this.#now = now
  }

  /** Does not wait for the brokers: nothing else is to wait for one that is away. */
  look(): void {
    if (this.#now() - this.#latestMs < LOOK_EVERY_MS) return
    this.#latestMs = this.#now()
    const asked = [...this.#partitions.keys()].flatMap((partition) =>
      this.#topics.map((topic) => ({ topic, partition })),
    )
    listOffsets(this.#client, 'end', asked).then(
      (ends) => {
        for (const { topic, partition, offset } of ends) this.#partitions.get(partition)?.endsAt(topic, offset)
      },
      // The fetcher and the member of the group reach the same brokers, and report what is wrong.
      () => undefined,
    )
  }
}

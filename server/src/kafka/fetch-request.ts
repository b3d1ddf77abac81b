import { isProtocolError } from './answered-errors.ts'
import type { KafkaClient } from './kafka-client.ts'
import { recordsOf } from './records-of.ts'
import type { FetchedRecord } from './records-of.ts'
import { FETCH } from './requests.ts'

type Answer = Awaited<ReturnType<(typeof FETCH)[number]['async']>>

/** The first batch is returned whole, however large it is. */
const MAX_BYTES = 8 * 1024 * 1024
const MAX_PARTITION_BYTES = 1024 * 1024

/** The isolation level of requests: the Collector does not use transactions. */
const READ_UNCOMMITTED = 0

/** How long a broker may wait for one record. */
const WAIT_MS = 500

/** What to read from a broker, by the brokers' id of each topic. */
export type FetchedTopics = readonly {
  readonly topicId: string
  readonly partitions: readonly { readonly partition: number; readonly next: number }[]
}[]

/**
 * Reads records of partitions from their leader.
 *
 * @param maxWaitMs how long the broker may wait until it has `enoughBytes`
 */
export async function fetchFrom(
  client: KafkaClient,
  node: number,
  topics: FetchedTopics,
  { maxWaitMs, enoughBytes }: { readonly maxWaitMs: number; readonly enoughBytes: number },
): Promise<Answer> {
  const asked = topics.map(({ topicId, partitions }) => ({
    topicId,
    partitions: partitions.map(({ partition, next }) => ({
      partition,
      currentLeaderEpoch: -1,
      fetchOffset: BigInt(next),
      lastFetchedEpoch: -1,
      partitionMaxBytes: MAX_PARTITION_BYTES,
    })),
  }))
  return await client.send(node, FETCH, maxWaitMs, enoughBytes, MAX_BYTES, READ_UNCOMMITTED, 0, -1, asked, [], '')
}

/** Whether an offset is no longer, or not yet, on its partition. */
export function isOutOfRange(error: unknown): boolean {
  return isProtocolError(error, 'OFFSET_OUT_OF_RANGE')
}

/**
 * The record at an offset of a partition; `undefined` if the partition has none there, or no longer has the offset.
 *
 * @throws if the partition's leader does not answer
 */
export async function recordAt(
  client: KafkaClient,
  topic: string,
  partition: number,
  offset: number,
): Promise<FetchedRecord | undefined> {
  if (!Number.isSafeInteger(offset)) return undefined
  const found = (await client.metadata([topic])).topics.get(topic)
  const leader = found?.partitions[partition]?.leader ?? -1
  if (found === undefined || leader < 0) throw new Error(`Partition ${partition} of ${topic} has no leader now`)
  const asked = [{ topicId: found.id, partitions: [{ partition, next: offset }] }]
  try {
    const { responses } = await fetchFrom(client, leader, asked, { maxWaitMs: WAIT_MS, enoughBytes: 1 })
    const { read, next } = recordsOf(responses[0]?.partitions[0]?.records ?? [], offset)
    // A new leader may not know yet that its last records are on all replicas.
    if (next === offset) throw new Error(`Partition ${partition} of ${topic} does not have offset ${offset} yet`)
    return read.find((record) => record.offset === offset)
  } catch (error) {
    if (isOutOfRange(error)) return undefined
    throw error
  }
}

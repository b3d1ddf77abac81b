import { ProduceAcks } from '@platformatic/kafka'
import type { BaseOptions } from '@platformatic/kafka'

import { isProtocolError } from './answered-errors.ts'
import type { ClusterTopic } from './cluster.ts'
import { KafkaClient } from './kafka-client.ts'
import { PRODUCE } from './requests.ts'

/** A message to append. */
export interface NewMessage {
  readonly key?: string | undefined
  readonly value: Uint8Array
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** How long a broker may wait for its replicas. */
const ACKNOWLEDGE_MS = 10_000

/** The partition has another leader than the one that was asked. */
const MOVED = ['NOT_LEADER_OR_FOLLOWER', 'FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH']

/**
 * Appends messages to partitions. The client library's own producer is not used: while a single partition of a topic has no leader, it
 * writes to none of them.
 */
export class RecordWriter {
  readonly #client: KafkaClient
  /** Whether the known leaders may be wrong. */
  #isStale = false
  #turn = 0

  constructor(base: BaseOptions) {
    this.#client = new KafkaClient(base)
  }

  /** The partitions of a topic. @throws if no broker answers, or there is no such topic */
  async partitions(topic: string): Promise<ClusterTopic['partitions']> {
    const isFresh = this.#isStale
    this.#isStale = false
    try {
      return (await this.#client.metadata([topic], isFresh)).topics.get(topic)?.partitions ?? []
    } catch (error) {
      this.#isStale = true
      throw error
    }
  }

  /** A partition that has a leader, in turn. @throws if none has one */
  async anyPartition(topic: string): Promise<number> {
    const partitions = await this.partitions(topic)
    const led = [...partitions.keys()].filter((partition) => (partitions[partition]?.leader ?? -1) >= 0)
    const partition = led[this.#turn++ % led.length]
    if (partition === undefined) throw this.#without(`No partition of ${topic} has a leader`)
    return partition
  }

  /**
   * Appends messages to a partition, all of them or none. Resolves when all in-sync replicas have them.
   *
   * @returns the offset of the first one
   * @throws if they may not be on the partition. They may be there nevertheless.
   */
  async append(topic: string, partition: number, messages: readonly NewMessage[]): Promise<number> {
    try {
      return await this.#append(topic, partition, messages)
    } catch (error) {
      this.#isStale = true
      if (!isProtocolError(error, ...MOVED)) throw error
      return await this.#append(topic, partition, messages)
    }
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  async #append(topic: string, partition: number, messages: readonly NewMessage[]): Promise<number> {
    const leader = (await this.partitions(topic))[partition]?.leader ?? -1
    if (leader < 0) throw this.#without(`Partition ${partition} of ${topic} has no leader`)
    const records = messages.map(({ key, value, headers }) => ({
      topic,
      partition,
      ...(key !== undefined && { key: Buffer.from(key) }),
      value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
      headers: new Map(Object.entries(headers ?? {}).map(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
    }))
    // A message that is appended again was compressed before, and must not become larger.
    const options = { compression: 'zstd' } as const
    const answer = await this.#client.send(leader, PRODUCE, ProduceAcks.ALL, ACKNOWLEDGE_MS, records, options)
    const offset = typeof answer === 'boolean' ? undefined : answer.responses[0]?.partitionResponses[0]?.baseOffset
    if (offset === undefined) throw new Error('Expected the offset of the appended messages, got none.')
    return Number(offset)
  }

  #without(what: string): Error {
    this.#isStale = true
    return new Error(`${what} now`)
  }
}

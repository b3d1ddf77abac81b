import { Admin } from '@platformatic/kafka'
import type { BaseOptions } from '@platformatic/kafka'

import { clientOptions, KafkaClient } from '../../src/kafka/kafka-client.ts'

/** A test's connection to brokers. */
export interface KafkaBrokers {
  /** `host:port` of each broker. */
  readonly brokers: readonly string[]
  readonly admin: Admin
  /** The TLS and SASL options of the test's own connection. */
  readonly access: Pick<BaseOptions, 'tls' | 'sasl'>
  /**
   * @param topics The settings of each topic, by name.
   * @param replicas The replicas of each partition. By default, there is one on each broker.
   */
  createTopics(
    topics: Readonly<Record<string, Readonly<Record<string, string>>>>,
    partitions: number,
    replicas?: number,
  ): Promise<void>
  /** The broker that coordinates a group, from 0 on. */
  coordinatorOf(groupId: string): Promise<number>
  /** Committed and last offset of each partition. */
  lagOf(groupId: string, topic: string): Promise<string>
  /** The offset after the last message of a partition. @param partition 0 if absent */
  endOf(topic: string, partition?: number): Promise<number>
  /** The broker that leads a partition, from 0 on. */
  leaderOf(topic: string, partition: number): Promise<number>
  close(): Promise<void>
}

export function connectKafka(brokers: readonly string[], access: Pick<BaseOptions, 'tls' | 'sasl'> = {}): KafkaBrokers {
  const options = { ...access, clientId: 'test' }
  const admin = new Admin({ ...options, bootstrapBrokers: [...brokers], retries: 60, retryDelay: 1000 })
  return {
    brokers,
    admin,
    access,
    createTopics: async (topics, partitions, replicas = brokers.length) => {
      for (const [topic, config] of Object.entries(topics)) {
        await admin.createTopics({
          topics: [topic],
          partitions,
          replicas,
          configs: Object.entries(config).map(([name, value]) => ({ name, value })),
        })
      }
      // Every broker learns about the topics a little later.
      for (const broker of brokers) {
        const each = new Admin({ ...options, bootstrapBrokers: [broker] })
        const areThere = (existing: readonly string[]) => Object.keys(topics).every((topic) => existing.includes(topic))
        while (!areThere(await each.listTopics())) await new Promise((resolve) => setTimeout(resolve, 100))
        await each.close()
      }
    },
    coordinatorOf: async (groupId) => {
      const client = new KafkaClient({ ...(await clientOptions({ brokers, clientId: 'test' })), ...access })
      const node = await client.findCoordinator(groupId)
      await client.close()
      return node - 1
    },
    lagOf: async (groupId, topic) => {
      const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true })
      const partitionCount = topics.get(topic)?.partitionsCount ?? 0
      const partitions = Array.from({ length: partitionCount }, (_, partitionIndex) => ({
        partitionIndex,
        timestamp: -1n,
      }))
      const [ends] = await admin.listOffsets({ topics: [{ name: topic, partitions }] })
      const [group] = await admin.listConsumerGroupOffsets({ groups: [groupId] })
      const committed = group?.topics.find(({ name }) => name === topic)?.partitions ?? []
      return (ends?.partitions ?? [])
        .map(({ partitionIndex, offset }) => {
          const known = committed.find((each) => each.partitionIndex === partitionIndex)
          return `${partitionIndex}: ${known?.committedOffset} of ${offset}`
        })
        .join(', ')
    },
    endOf: async (name, partition = 0) => {
      const partitions = [{ partitionIndex: partition, timestamp: -1n }]
      const [ends] = await admin.listOffsets({ topics: [{ name, partitions }] })
      return Number(ends?.partitions[0]?.offset)
    },
    leaderOf: async (topic, partition) => {
      const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true })
      return (topics.get(topic)?.partitions[partition]?.leader ?? 1) - 1
    },
    close: async () => {
      await admin.close().catch(() => undefined)
    },
  }
}

import { z } from 'zod'

import { answersIn } from './answered-errors.ts'

/** Brokers and topics. */
export interface Cluster {
  /** By their ids. */
  readonly brokers: ReadonlyMap<number, unknown>
  readonly topics: ReadonlyMap<string, ClusterTopic>
}

/** A topic, as the brokers know it. */
export interface ClusterTopic {
  /** A topic that is deleted and created again gets another one. */
  readonly id: string
  /** By their numbers. The leader is the id of a broker, or -1 if the partition has none now. */
  readonly partitions: readonly { readonly leader: number }[]
  readonly partitionsCount: number
}

/** Errors of a partition that has no leader now. Its topic, and the other partitions, are as usual. */
const WITHOUT_LEADER = ['LEADER_NOT_AVAILABLE', 'LISTENER_NOT_FOUND', 'REPLICA_NOT_AVAILABLE']

const responseSchema = z.object({
  brokers: z.array(z.object({ nodeId: z.number() })),
  topics: z.array(
    z.object({
      name: z.string(),
      topicId: z.string(),
      partitions: z.array(z.object({ partitionIndex: z.number(), leaderId: z.number() })),
    }),
  ),
})

/**
 * The cluster as an error describes it. The client library refuses a response in which a single partition has no leader, so that none of the others
 * could be read either.
 *
 * @returns `undefined` if the error has another reason, or if a topic is missing
 */
export function clusterIn(error: unknown, topics: readonly string[]): Cluster | undefined {
  const answers = answersIn(error)
  if (answers.length === 0 || !answers.every(({ id }) => WITHOUT_LEADER.includes(id))) return undefined
  const { success, data } = responseSchema.safeParse(responseIn(error))
  if (!success || !topics.every((topic) => data.topics.some(({ name }) => name === topic))) return undefined
  return {
    brokers: new Map(data.brokers.map((broker) => [broker.nodeId, broker])),
    topics: new Map(
      data.topics.map(({ name, topicId, partitions }) => {
        const leaders: { readonly leader: number }[] = []
        for (const { partitionIndex, leaderId } of partitions) leaders[partitionIndex] = { leader: leaderId }
        return [name, { id: topicId, partitions: leaders, partitionsCount: partitions.length }]
      }),
    ),
  }
}

function responseIn(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  if ('response' in error) return error.response
  const inner = [
    ...('errors' in error && Array.isArray(error.errors) ? error.errors : []),
    ...('cause' in error ? [error.cause] : []),
  ]
  return inner.map(responseIn).find((response) => response !== undefined)
}

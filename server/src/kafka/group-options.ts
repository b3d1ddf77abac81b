import type { KafkaOptions } from './kafka-client.ts'

/** Options of a consumer group member, whatever it reads. */
export interface GroupOptions {
  /** The brokers. */
  readonly kafka: KafkaOptions
  /** The consumer group. */
  readonly groupId: string
  /** Without heartbeats for this long, other members take over the partitions. */
  readonly sessionTimeoutMs: number
  /** How often progress is committed. */
  readonly commitMs: number
}

import type { KafkaOptions } from './kafka-client.ts'

/** Options of a consumer group member, whatever it reads. */
export interface GroupOptions {
  readonly kafka: KafkaOptions
  readonly groupId: string
  /** Without heartbeats for this long, other members take over the partitions. */
  readonly sessionTimeoutMs: number
  /** How often progress is committed. */
  readonly commitMs: number
}

import type { KafkaOptions } from './kafka-client.ts'

/** How a member of a consumer group is set up, whatever it reads. */
export interface GroupOptions {
  readonly kafka: KafkaOptions
  readonly groupId: string
  /** Without heartbeats for so long, others take the partitions over. */
  readonly sessionTimeoutMs: number
  /** How often it is written down what is done. */
  readonly commitMs: number
}

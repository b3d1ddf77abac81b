import type { KafkaOptions } from '../kafka-client.ts'

/** How a judge worker is set up. */
export interface JudgeWorkerOptions {
  readonly kafka: KafkaOptions
  readonly groupId: string
  readonly topics: {
    readonly jobs: string
    /** Where messages are put that are no jobs. */
    readonly dead: string
  }
  readonly sessionTimeoutMs: number
  readonly commitMs: number
  /** Jobs that have waited for longer are not judged. */
  readonly maxJobAgeMs: number
}

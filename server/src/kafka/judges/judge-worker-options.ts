import type { GroupOptions } from '../group-options.ts'

/** Options of a judge worker. */
export interface JudgeWorkerOptions extends GroupOptions {
  /** Names of the topics. */
  readonly topics: {
    /** The topic of judge jobs. */
    readonly jobs: string
    /** The topic for messages that are not jobs. */
    readonly dead: string
  }
  /** Older jobs are not judged. */
  readonly maxJobAgeMs: number
}

import type { GroupOptions } from '../group-options.ts'

/** How a judge worker is set up. */
export interface JudgeWorkerOptions extends GroupOptions {
  readonly topics: {
    readonly jobs: string
    /** Where messages are put that are no jobs. */
    readonly dead: string
  }
  /** Jobs that have waited for longer are not judged. */
  readonly maxJobAgeMs: number
}

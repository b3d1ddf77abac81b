/** What a worker counts. */
export interface WorkerCounts {
  messages: number
  spans: number
  /** Spans and log records without valid ids, or too large. */
  leftOut: number
  /** Messages that could not be read and were put aside. */
  dead: number
  /** Messages that the broker dropped before they were read. */
  lostToRetention: number
  /** Messages that were appended again so that the commit could move on. */
  carried: number
  commits: number
  failedCommits: number
}

/** The counts of a worker. */
export interface WorkerCounts {
  messages: number
  spans: number
  /** Spans and log records without valid ids. */
  invalid: number
  /** Spans and log records above the size limit. */
  tooLarge: number
  /** For partitions that were given away: runs and revisions that were scored. */
  runs: number
  revisions: number
  /** For partitions that were given away: spans that arrived after their run was finished, and spans above their trace's limit. */
  late: number
  overLimit: number
  /** Unreadable messages that were moved to the dead-letter topic. */
  dead: number
  /** Messages that the broker dropped before they were scored. */
  lostToRetention: number
  /** Messages that were appended again so that the commit could advance. */
  carried: number
  commits: number
  failedCommits: number
  /** Those of them whose metadata was written to the partition, because it is longer than brokers accept. */
  longCommits: number
}

/** Counts of zero. */
export function noCounts(): WorkerCounts {
  return {
    messages: 0,
    spans: 0,
    invalid: 0,
    tooLarge: 0,
    runs: 0,
    revisions: 0,
    late: 0,
    overLimit: 0,
    dead: 0,
    lostToRetention: 0,
    carried: 0,
    commits: 0,
    failedCommits: 0,
    longCommits: 0,
  }
}

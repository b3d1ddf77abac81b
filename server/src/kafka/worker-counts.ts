/** What a worker counts. */
export interface WorkerCounts {
  messages: number
  spans: number
  /** Spans and log records without valid ids. */
  invalid: number
  /** Spans and log records that were larger than one may be. */
  tooLarge: number
  /** Of partitions that were given away: runs and revisions that were put before the scorers. */
  runs: number
  revisions: number
  /** Of partitions that were given away: spans that came after their run was finished, and spans over the limit of their trace. */
  late: number
  overLimit: number
  /** Messages that could not be read and were put aside. */
  dead: number
  /** Messages that the broker dropped before they were read. */
  lostToRetention: number
  /** Messages that were appended again so that the commit could move on. */
  carried: number
  commits: number
  failedCommits: number
}

/** The counts of a worker that has done nothing. */
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
  }
}

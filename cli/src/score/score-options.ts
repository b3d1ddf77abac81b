/** The command-line options of `spanscore score`. */
export interface ScoreOptions {
  /** The configuration file. */
  readonly config?: string
  /** Whether to print the evaluations and the summary as JSON. */
  readonly json?: boolean
  /** The file for the scores as OTLP log records. */
  readonly out?: string
  /** The file for the JUnit report. */
  readonly junit?: string
  /** Whether a failing score is a failed case of the JUnit report. */
  readonly junitFailures?: boolean
  /** The file for the Markdown summary. */
  readonly markdown?: string
  /** How many of the worst runs are shown for each agent and scorer. */
  readonly top: number
  /** Whether agents and scorers without a failing run are left out. */
  readonly failedOnly?: boolean
  /** `agent=NAME` or `trace=ID`: the runs to score. */
  readonly where?: readonly string[]
  /** Maximum number of scores by judges. */
  readonly judgeLimit: number
  /** `SCORER=NUMBER`: the mean of the scorer must not be below the number. */
  readonly failUnder?: readonly string[]
  /** `SCORER=NUMBER`: the mean of the scorer must not be above the number. */
  readonly failOver?: readonly string[]
  /** Whether gates compare the worse end of the 95 % interval instead of the mean. */
  readonly lower?: boolean
  /** The backend whose stored traces are scored, instead of files. */
  readonly from?: string
  /** How far back stored traces are read: a duration or a time. */
  readonly since: string
  /** Which stored traces are read, in the backend's own language. */
  readonly query?: string
  /** File with the authority of that backend's certificate, in PEM. */
  readonly fromCa?: string
  /** File with the certificate of this client for it. */
  readonly fromCert?: string
  /** File with the key of that certificate. */
  readonly fromKey?: string
  /** The OTLP endpoint that scores are sent to. */
  readonly to?: string
  /** File with the authority of that endpoint's certificate, in PEM. */
  readonly toCa?: string
  /** File with the certificate of this client for it. */
  readonly toCert?: string
  /** File with the key of that certificate. */
  readonly toKey?: string
  /** The file that notes how far a backfill is. */
  readonly resume?: string
  /** `new-failures` or `drop`, or the same with `=SCORER`: what must not be worse than in the baseline; or `unchecked-cases`. */
  readonly failOn?: readonly string[]
  /** How many questions may newly fail. */
  readonly allow?: number
  /** A file of cases, whose questions are checked. */
  readonly cases?: string
  /** An earlier JSON report to compare with. */
  readonly baseline?: string
}

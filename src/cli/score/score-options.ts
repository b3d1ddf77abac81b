/** The command-line options of `spanscore score`. */
export interface ScoreOptions {
  readonly config?: string
  readonly json?: boolean
  readonly out?: string
  readonly junit?: string
  readonly where?: readonly string[]
  readonly judgeLimit: number
  readonly failUnder?: readonly string[]
  readonly failOver?: readonly string[]
  readonly lower?: boolean
  readonly baseline?: string
}

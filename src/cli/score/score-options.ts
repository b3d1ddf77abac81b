/** The options of `spanscore score`, as the command line gives them. */
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

/** The price of a model in US dollars per million tokens. */
export interface Price {
  /** US dollars per million tokens of the prompt. */
  readonly input: number
  /** Input tokens that the provider read from its cache. @default `input` */
  readonly cachedInput?: number
  /** Input tokens that the provider wrote to its cache. @default `input` */
  readonly cacheWrite?: number
  /** US dollars per million tokens of the reply. */
  readonly output: number
  /** The price applies up to this many input tokens per call; above it, the cost is unknown. @default unlimited */
  readonly upToInputTokens?: number
}

/** What a model costs, in US dollars for a million tokens. */
export interface Price {
  /** US dollars per million tokens of the prompt. */
  readonly input: number
  /** Of input that the provider had in its cache. @default `input` */
  readonly cachedInput?: number
  /** Of input that the provider put into its cache. @default `input` */
  readonly cacheWrite?: number
  /** US dollars per million tokens of the answer. */
  readonly output: number
  /** Input tokens of one call up to which this is the price; beyond, the cost is unknown. @default any number */
  readonly upToInputTokens?: number
}

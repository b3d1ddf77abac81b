/** US dollars for a million tokens. */
export interface Price {
  readonly input: number
  /** Of input that the provider had in its cache. @default `input` */
  readonly cachedInput?: number
  readonly output: number
}

/** Day of the list prices below. Providers change them; what is billed is what the provider says. */
export const pricesAsOf = '2025-11-30'

/**
 * List prices by `<provider>/<model>`, standard tier, shortest context class. A model that is not here has an unknown cost, and
 * never a cost of 0.
 */
export const prices: Readonly<Record<string, Price>> = {
  'openai/gpt-5.1': { input: 1.25, cachedInput: 0.125, output: 10 },
  'openai/gpt-5': { input: 1.25, cachedInput: 0.125, output: 10 },
  'openai/gpt-5-mini': { input: 0.25, cachedInput: 0.025, output: 2 },
  'openai/gpt-5-nano': { input: 0.05, cachedInput: 0.005, output: 0.4 },
  'openai/gpt-4.1': { input: 2, cachedInput: 0.5, output: 8 },
  'openai/gpt-4.1-mini': { input: 0.4, cachedInput: 0.1, output: 1.6 },
  'openai/gpt-4.1-nano': { input: 0.1, cachedInput: 0.025, output: 0.4 },
  'openai/gpt-4o': { input: 2.5, cachedInput: 1.25, output: 10 },
  'openai/gpt-4o-mini': { input: 0.15, cachedInput: 0.075, output: 0.6 },
  'openai/o3': { input: 2, cachedInput: 0.5, output: 8 },
  'openai/o3-mini': { input: 1.1, cachedInput: 0.55, output: 4.4 },
  'openai/o4-mini': { input: 1.1, cachedInput: 0.275, output: 4.4 },
  'anthropic/claude-opus-4-5': { input: 5, cachedInput: 0.5, output: 25 },
  'anthropic/claude-opus-4-1': { input: 15, cachedInput: 1.5, output: 75 },
  'anthropic/claude-sonnet-4-5': { input: 3, cachedInput: 0.3, output: 15 },
  'anthropic/claude-sonnet-4': { input: 3, cachedInput: 0.3, output: 15 },
  'anthropic/claude-haiku-4-5': { input: 1, cachedInput: 0.1, output: 5 },
  'anthropic/claude-3-5-haiku': { input: 0.8, cachedInput: 0.08, output: 4 },
  'google/gemini-2.5-pro': { input: 1.25, cachedInput: 0.125, output: 10 },
  'google/gemini-2.5-flash': { input: 0.3, cachedInput: 0.03, output: 2.5 },
  'google/gemini-2.5-flash-lite': { input: 0.1, cachedInput: 0.01, output: 0.4 },
}

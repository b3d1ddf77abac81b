import type { Price } from './price.ts'

// Written by `node scripts/prices/main.ts` from scripts/prices/prices.json: change it there.

/** Day on which the list prices below were last looked at. Providers change them; what is billed is what they say. */
export const pricesAsOf = '2026-11-20'

/**
 * List prices by `<provider>/<model>`, for text, at the standard tier. A model that is not here has an unknown cost, never a
 * cost of 0.
 */
export const prices: Readonly<Record<string, Price>> = {
  'openai/gpt-6.1-sol': { input: 2, cachedInput: 0.1, cacheWrite: 2.5, output: 10, upToInputTokens: 272_000 },
  'openai/gpt-6.1-terra': { input: 1, cachedInput: 0.05, cacheWrite: 1.25, output: 5, upToInputTokens: 272_000 },
  'openai/gpt-6-sol': { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10, upToInputTokens: 272_000 },
  'openai/gpt-6-luna': { input: 0.1, cachedInput: 0.01, cacheWrite: 0.125, output: 0.5, upToInputTokens: 272_000 },
  'openai/gpt-5.6-sol': { input: 5, cachedInput: 0.5, output: 30, upToInputTokens: 272_000 },
  'openai/gpt-5.6-terra': { input: 2, cachedInput: 0.2, output: 12, upToInputTokens: 272_000 },
  'openai/gpt-5.6-luna': { input: 0.2, cachedInput: 0.02, output: 1.2, upToInputTokens: 272_000 },
  'openai/gpt-5.4': { input: 2.5, cachedInput: 0.25, output: 15, upToInputTokens: 272_000 },
  'openai/gpt-5.4-mini': { input: 0.75, cachedInput: 0.075, output: 4.5 },
  'openai/gpt-5.2': { input: 1.75, cachedInput: 0.175, output: 14 },
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
  'anthropic/claude-fable-5-1': { input: 10, cachedInput: 0.25, cacheWrite: 12.5, output: 50 },
  'anthropic/claude-opus-5-5': { input: 4, cachedInput: 0.2, cacheWrite: 5, output: 20 },
  'anthropic/claude-opus-5': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'anthropic/claude-opus-4-8': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'anthropic/claude-opus-4-7': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'anthropic/claude-opus-4-6': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'anthropic/claude-opus-4-5': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 },
  'anthropic/claude-sonnet-5-5': { input: 2, cachedInput: 0.1, cacheWrite: 2.5, output: 10 },
  'anthropic/claude-sonnet-5': { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 },
  'anthropic/claude-sonnet-4-6': { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 },
  'anthropic/claude-sonnet-4-5': { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 },
  'anthropic/claude-haiku-5-5': {
    input: 0.1,
    cachedInput: 0.01,
    cacheWrite: 0.125,
    output: 0.5,
    upToInputTokens: 100_000,
  },
  'anthropic/claude-haiku-4-5': { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 },
  'google/gemini-2.5-pro': { input: 1.25, cachedInput: 0.125, output: 10, upToInputTokens: 200_000 },
  'google/gemini-2.5-flash': { input: 0.3, cachedInput: 0.03, output: 2.5 },
  'google/gemini-2.5-flash-lite': { input: 0.1, cachedInput: 0.01, output: 0.4 },
}

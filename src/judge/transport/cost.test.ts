import { describe, expect, it } from 'vitest'

import { costUsd, priceOf } from './cost.ts'
import { prices, pricesAsOf } from './prices.ts'

describe('costUsd', () => {
  it('is tokens times list price, cached input by its own price', () => {
    expect(costUsd('openai/gpt-5-mini', { inputTokens: 1_000_000, outputTokens: 1_000_000 })).toBeCloseTo(2.25, 10)
    const cached = { inputTokens: 1_000_000, cacheReadTokens: 1_000_000, outputTokens: 0 }
    expect(costUsd('openai/gpt-5-mini', cached)).toBeCloseTo(0.025, 10)
  })

  it('is unknown, never 0, where price or tokens are', () => {
    expect(costUsd('openai/gpt-77', { inputTokens: 1, outputTokens: 1 })).toBeUndefined()
    expect(costUsd('local/gpt-5-mini', { inputTokens: 1, outputTokens: 1 })).toBeUndefined()
    expect(costUsd('openai/gpt-5-mini', { inputTokens: 1 })).toBeUndefined()
    expect(costUsd('openai/toString', { inputTokens: 1, outputTokens: 1 })).toBeUndefined()
  })

  it.each([
    'openai/gpt-4o-mini-2024-07-18',
    'anthropic/claude-sonnet-4-5-20250929',
    'anthropic/claude-opus-5-latest',
    'anthropic/claude-opus-4.5',
  ])('knows the snapshot %s by its model', (model) => {
    expect(priceOf(model)).toBeDefined()
  })

  it('has a dated table of positive prices, cached input the cheapest', () => {
    expect(pricesAsOf).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    for (const { input, cachedInput = input, output } of Object.values(prices)) {
      expect(0 < cachedInput && cachedInput <= input && input <= output).toBe(true)
    }
  })
})

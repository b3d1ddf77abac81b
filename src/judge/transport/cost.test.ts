import { describe, expect, it } from 'vitest'

import type { AgentRun } from '../../model/agent-run.ts'
import { Judge } from '../judge.ts'
import { costUsd, priceByName, priceOf } from './cost.ts'
import { prices, pricesAsOf } from './prices.ts'

describe('costUsd', () => {
  it('multiplies tokens by list prices, with the separate price of cached input', () => {
    expect(costUsd(priceOf('openai/gpt-5-mini'), { inputTokens: 1_000_000, outputTokens: 1_000_000 })).toBeCloseTo(
      2.25,
      10,
    )
    const cached = { inputTokens: 1_000_000, cacheReadTokens: 1_000_000, outputTokens: 0 }
    expect(costUsd(priceOf('openai/gpt-5-mini'), cached)).toBeCloseTo(0.025, 10)
  })

  it('is unknown, never 0, if price or tokens are unknown', () => {
    expect(costUsd(priceOf('openai/gpt-77'), { inputTokens: 1, outputTokens: 1 })).toBeUndefined()
    expect(costUsd(priceOf('local/gpt-5-mini'), { inputTokens: 1, outputTokens: 1 })).toBeUndefined()
    expect(costUsd(priceOf('openai/gpt-5-mini'), { inputTokens: 1 })).toBeUndefined()
    expect(costUsd(priceOf('openai/toString'), { inputTokens: 1, outputTokens: 1 })).toBeUndefined()
  })

  it('is known for every model with a price option, which budgets in US dollars then count', () => {
    const price = { input: 1, output: 3 }
    const judge = new Judge({ id: 'local/llama', url: 'http://127.0.0.1:9/v1' }, { price })
    expect(judge.costUsd({ inputTokens: 1_000_000, outputTokens: 1_000_000 })).toBe(4)
    const known = judge.toScorerJudge(() => ({ calls: 1, contentBytes: 100, answers: 1 }))
    expect(known.priced).toBe(true)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the workload does not look at the run
    expect(known.estimate({} as AgentRun).costUsd).toBeGreaterThan(0)
    expect(new Judge('local/llama').toScorerJudge(() => ({ calls: 1, contentBytes: 0, answers: 1 })).priced).toBe(false)
  })

  it.each([
    [{ input: 1 }, /judge\.price\.output to be a non-negative number, got undefined/],
    [{ input: -1, output: 1 }, /judge\.price\.input to be a non-negative number, got -1/],
    [{ input: 1, output: 1, inptu: 2 }, /unknown option: "inptu"/],
    [7, /judge\.price to be \{ input, output \}/],
  ])('refuses an invalid price: %j', (price, message) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    expect(() => new Judge('openai/gpt-5', { price: price as never })).toThrow(message)
  })

  it.each([
    'openai/gpt-4o-mini-2024-07-18',
    'anthropic/claude-sonnet-4-5-20250929',
    'anthropic/claude-opus-5-latest',
    'anthropic/claude-opus-4.5',
  ])('knows the snapshot %s by its model', (model) => {
    expect(priceOf(model)).toBeDefined()
  })

  it('has a dated table of positive prices, of which cached input is the lowest', () => {
    expect(pricesAsOf).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    for (const { input, cachedInput = input, output } of Object.values(prices)) {
      expect(0 < cachedInput && cachedInput <= input && input <= output).toBe(true)
    }
  })
})

describe('priceByName', () => {
  it('finds the price of a model by the name that spans record', () => {
    expect(priceByName('gpt-5-mini-2025-08-07')).toEqual(prices['openai/gpt-5-mini'])
    expect(priceByName('anthropic/claude-opus-5')).toEqual(prices['anthropic/claude-opus-5'])
    expect(priceByName('nobody-knows')).toBeUndefined()
  })

  it('is not ambiguous: no two providers of the table have a model of one name', () => {
    const names = Object.keys(prices).map((name) => name.split('/')[1])
    expect(new Set(names).size).toBe(names.length)
  })
})

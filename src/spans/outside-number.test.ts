import { describe, expect, it } from 'vitest'

import { boundedNumber, plausibleUsage, timeMs, tokenCount } from './outside-number.ts'

describe('a number from outside', () => {
  it.each([
    [5, 5],
    [-1, 0],
    [1e300, 60],
    [Infinity, 60],
    [Number.NaN, undefined],
    ['5', undefined],
    [undefined, undefined],
  ])('is limited to its range: %s becomes %s', (value, bounded) => {
    expect(boundedNumber(value, 0, 60)).toBe(bounded)
  })

  it.each([
    [0, 0],
    [12.4, 12],
    [10_000_000, 10_000_000],
    [1.7e308, undefined],
    [-1, undefined],
    [Number.NaN, undefined],
    [Infinity, undefined],
    [10n, undefined],
    ['10', undefined],
  ])('is a count of tokens only if a call can use so many: %s becomes %s', (value, count) => {
    expect(tokenCount(value)).toBe(count)
  })

  it('is left out of the usage of a run if no run can use so many tokens', () => {
    const usage = { inputTokens: 1.7e308, outputTokens: -3, cacheReadTokens: Infinity, reasoningTokens: 12 }
    expect(plausibleUsage(usage)).toEqual({ reasoningTokens: 12 })
  })

  it.each([
    [1_700_000_000_000, 1_700_000_000_000],
    [-1, 0],
    [Number.NaN, 0],
    [1e300, 0],
    [Infinity, 0],
  ])('is a time only if a date can represent it: %s becomes %s', (value, time) => {
    expect(timeMs(value)).toBe(time)
  })
})

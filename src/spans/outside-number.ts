/**
 * A number that another program gave (a server, a model, a scorer of the application's own), held within bounds.
 *
 * @returns the number, or the nearest bound where it lies beyond; `undefined` for what is no number, `NaN` included
 */
export function boundedNumber(value: unknown, low: number, high: number): number | undefined {
  return typeof value === 'number' && !Number.isNaN(value) ? Math.min(high, Math.max(low, value)) : undefined
}

/** More tokens than any model reads or writes in one call. */
const MOST_TOKENS = 10_000_000

/**
 * A count of tokens that another program gave. A count that no call can take is absent rather than the nearest bound: budgets
 * and means are better off without a number than with an invented one.
 *
 * @param calls how many calls the count is the sum of
 */
export function tokenCount(value: unknown, calls = 1): number | undefined {
  if (typeof value !== 'number' || !(value >= 0 && value <= MOST_TOKENS * calls)) return undefined
  return Math.round(value)
}

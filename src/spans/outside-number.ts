import type { Usage } from '../model/message.ts'

/**
 * A number that another program gave (a server, a model, a scorer of the application's own), held within bounds.
 *
 * @returns the number, or the nearest bound where it lies beyond; `undefined` for what is not a number, `NaN` included
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
  return countUpTo(value, MOST_TOKENS * calls)
}

/** More model calls than any run makes: what the span of an agent counts is the sum of its calls. */
const MOST_CALLS = 1000

/** The counts of a span or a run that can be right; a count that no run can take is left out. */
export function plausibleUsage(usage: Usage): Usage {
  const entries = Object.entries(usage)
  const plausible = entries.filter(([, count]) => tokenCount(count, MOST_CALLS) !== undefined)
  return plausible.length === entries.length ? usage : Object.fromEntries(plausible)
}

/** A whole number from 0 to `most` that another program gave; `undefined` for anything else. */
export function countUpTo(value: unknown, most: number): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= most ? Math.round(value) : undefined
}

/** What `Date` can represent, in milliseconds. */
const MOST_TIME_MS = 8.64e15

/** A time that another program gave, in milliseconds since 1970; 0, which means no time, for what is none. */
export function timeMs(value: number): number {
  return value >= 0 && value <= MOST_TIME_MS ? value : 0
}

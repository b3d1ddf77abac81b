import type { Usage } from '../model/message.ts'

/**
 * Restricts a number from another program (a server, a model, a custom scorer) to a range.
 *
 * @returns the number, or the nearest bound; `undefined` for anything else, including `NaN`
 */
export function boundedNumber(value: unknown, low: number, high: number): number | undefined {
  return typeof value === 'number' && !Number.isNaN(value) ? Math.min(high, Math.max(low, value)) : undefined
}

/** More tokens than any model reads or writes in one call. */
const MOST_TOKENS = 10_000_000

/**
 * A token count from another program. An impossible count is dropped instead of being clamped: for budgets and means, no number is better
 * than an invented one.
 *
 * @param calls how many calls the count covers
 */
export function tokenCount(value: unknown, calls = 1): number | undefined {
  return countUpTo(value, MOST_TOKENS * calls)
}

/** More model calls than any run makes. An agent's span counts the sum of its calls. */
const MOST_CALLS = 1000

/** The plausible counts of a span or a run; impossible ones are dropped. */
export function plausibleUsage(usage: Usage): Usage {
  const entries = Object.entries(usage)
  const plausible = entries.filter(([, count]) => tokenCount(count, MOST_CALLS) !== undefined)
  return plausible.length === entries.length ? usage : Object.fromEntries(plausible)
}

/** A whole number from 0 to `most` from another program; `undefined` for anything else. */
export function countUpTo(value: unknown, most: number): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= most ? Math.round(value) : undefined
}

/** The largest time that `Date` supports, in milliseconds. */
const MOST_TIME_MS = 8.64e15

/** A time from another program, in milliseconds since 1970; 0, which means no time, if it is invalid. */
export function timeMs(value: number): number {
  return value >= 0 && value <= MOST_TIME_MS ? value : 0
}

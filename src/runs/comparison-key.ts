import { canonicalJsonWithin } from '../spans/json.ts'

/** Maximum characters of a value that are compared. */
const MAX_CHARACTERS = 20_000

/** The keys of values that were read ahead, because creating the key of a very large value takes long. */
const readAhead = new WeakMap<object, string>()

/** Returns a text that is equal for equal values, whatever their source. Long values that only differ near their end may share it. */
export function comparisonKey(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? readAhead.get(value) : undefined
  return known ?? canonicalJsonWithin(MAX_CHARACTERS, value)
}

/** Creates the key of a large run's value in advance, so that `comparisonKey` is fast later. */
export function readComparisonKey(value: unknown): void {
  if (typeof value !== 'object' || value === null || readAhead.has(value)) return
  readAhead.set(value, canonicalJsonWithin(MAX_CHARACTERS, value))
}
